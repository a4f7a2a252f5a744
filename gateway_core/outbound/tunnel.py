"""``CONNECT``: a way through a proxy, opened before TLS begins."""

import asyncio
import re
from typing import Final, cast

from gateway_core.causes import Cause
from gateway_core.errors import ProviderUnreachable
from gateway_core.http1.bounds import MAX_HEAD_BYTES
from gateway_core.secret import Secret

_STATUS: Final = re.compile(rb"HTTP/1\.[01] (\d{3})(?: |\r\n)")


class Tunnel(asyncio.Protocol):
    """Speaks to the proxy until it says that the way is open."""

    def __init__(self) -> None:
        self._received = b""
        self._status: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the transport, on which TLS starts later."""
        self.transport = cast("asyncio.Transport", transport)

    async def open(self, authority: str, authorization: Secret | None) -> None:
        """Ask for a way to ``authority``.

        Raises:
            ProviderUnreachable: the proxy refuses, or does not speak HTTP.
        """
        lines = [f"CONNECT {authority} HTTP/1.1", f"host: {authority}"]
        if authorization is not None:
            lines.append(f"proxy-authorization: {authorization.reveal()}")
        self.transport.write("\r\n".join([*lines, "", ""]).encode("ascii"))
        status = await self._status
        if status == 407:
            raise _proxy_fault("the proxy did not accept its credentials")
        if not 200 <= status < 300:
            raise _proxy_fault(f"the proxy refused the connection (HTTP {status})")

    def data_received(self, data: bytes) -> None:
        """Wait for the end of the head; nothing may follow it before TLS begins."""
        self._received += data
        head, end, rest = self._received.partition(b"\r\n\r\n")
        if not end and len(head) <= MAX_HEAD_BYTES:
            return
        found = _STATUS.match(self._received)
        if found is None or not end or (rest and found[1].startswith(b"2")):
            self._fail("the proxy does not speak HTTP/1.1")
        elif not self._status.done():
            self._status.set_result(int(found[1]))

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail when the proxy closes without an answer."""
        del exc
        self._fail("the proxy closed the connection")

    def _fail(self, message: str) -> None:
        if not self._status.done():
            self._status.set_exception(_proxy_fault(message))


def _proxy_fault(message: str) -> ProviderUnreachable:
    return ProviderUnreachable(message, cause=Cause.PROXY)
