"""Ways out of the kit: one that leads nowhere, and one that is watched."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gateway_core.context import Sender
from gateway_core.errors import ProviderUnreachable
from gateway_core.types import DecisionReply

if TYPE_CHECKING:
    import httpx


class NoWayOut:
    """A sender for providers that have no reason to send: it notes that they tried."""

    def __init__(self) -> None:
        self.tried = False

    async def send(self, *_: object, **__: object) -> DecisionReply:
        """Note the attempt and refuse it."""
        self.tried = True
        raise ProviderUnreachable("there is no way out in this check")

    def client(self) -> Any:
        """Note the attempt and refuse it."""
        self.tried = True
        raise ProviderUnreachable("there is no way out in this check")


class WatchedSender:
    """The host's way out, as far as the scripted upstream; it remembers what went through it.

    Attributes:
        sent: the URLs that were asked for, through a client over it, too.
    """

    def __init__(self, sender: Sender, upstream: str) -> None:
        self._sender = sender
        self._upstream = f"{upstream}/"
        self.sent: list[str] = []

    async def send(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes
    ) -> DecisionReply:
        """Send to the upstream; refuse what is meant for anybody else."""
        self._note(url)
        return await self._sender.send(method, url, headers=headers, body=body)

    def client(self) -> "httpx.AsyncClient":
        """Return a client over the same way out."""
        client = self._sender.client()

        async def note(request: "httpx.Request") -> None:
            self._note(str(request.url))

        client.event_hooks = {"request": [note]}
        return client

    def _note(self, url: str) -> None:
        self.sent.append(url)
        if not url.startswith(self._upstream):
            raise ProviderUnreachable("the kit lets nothing out to another host")
