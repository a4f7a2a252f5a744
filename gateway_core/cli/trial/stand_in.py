"""A way out that reaches nobody: it answers by itself, and notes who asked."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import attrs

from gateway_core.context import Endpoint
from gateway_core.outbound import DestinationPolicy, Outbound
from gateway_core.outbound.target import parse_target
from gateway_core.testing.answers import standard_answer
from gateway_core.testing.messages import Received
from gateway_core.types import DecisionReply

if TYPE_CHECKING:
    import httpx

_JSON: Final = {"content-type": "application/json"}


class StandIn:
    """Answers for every upstream as a well-behaved one would; see ``WayOut``.

    Attributes:
        asked: how many requests would have left.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Stand in for the way out that ``environ`` describes."""
        self._real = Outbound(environ)
        self.asked = 0

    def sender(self, endpoint: Endpoint, policy: DestinationPolicy | None = None) -> "_Sender":
        """Return the way out of one provider.

        Raises:
            ConfigError: as ``Outbound.sender`` does.
        """
        self._real.sender(endpoint, policy)
        return _Sender(self, policy)

    async def aclose(self) -> None:
        """Close what is open, which is nothing."""
        await self._real.aclose()


@attrs.frozen(eq=False)
class _Sender:
    """One provider's way out; see ``Sender``."""

    _owner: StandIn
    _policy: DestinationPolicy | None

    async def send(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes
    ) -> DecisionReply:
        """Answer one request.

        Raises:
            DestinationUnusable: the URL is none.
            DestinationBlocked: the policy forbids its host.
        """
        target = parse_target(url)
        if self._policy is not None:
            self._policy.check_literal(target.host)
        self._owner.asked += 1
        return DecisionReply(body=_answer(method, target.path, headers, body), headers=_JSON)

    def client(self) -> "httpx.AsyncClient":
        """Return an ``httpx`` client that is answered the same way."""
        import httpx

        async def handle(request: httpx.Request) -> httpx.Response:
            body = await request.aread()
            sent = dict(request.headers)
            found = await self.send(request.method, str(request.url), headers=sent, body=body)
            return httpx.Response(found.status, headers=_JSON, content=found.body)

        return httpx.AsyncClient(transport=httpx.MockTransport(handle))


def _answer(method: str, path: str, headers: Mapping[str, str], body: bytes) -> bytes:
    """Return a reply to a body of either format; an empty object to any other."""
    received = Received(method=method, path=path, headers=headers, body=body, connection=1)
    try:
        return json.dumps(standard_answer(received).body).encode()
    except (ValueError, KeyError, TypeError):
        return b"{}"
