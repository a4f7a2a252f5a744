"""``httpx`` over the same way out, for what ``post`` and ``get`` cannot do."""

import asyncio
from typing import TYPE_CHECKING

import httpx

from gateway_core.errors import ProviderTimeout

if TYPE_CHECKING:
    from gateway_core.outbound.sender import HttpSender


class Transport(httpx.AsyncBaseTransport):
    """Hands requests to a sender: same policy, proxies, caps and single attempt."""

    def __init__(self, sender: "HttpSender") -> None:
        self._sender = sender

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send ``request`` and return the reply, its content encoding undone.

        The client's ``read`` timeout bounds the whole attempt.

        Raises:
            ProviderError: what ``Sender.send`` raises, so that a failure means the same
                whichever way a plugin sends; a status alone is no failure.
        """
        limit_s: float | None = request.extensions.get("timeout", {}).get("read")
        body = await request.aread()
        try:
            async with asyncio.timeout(limit_s):
                reply = await self._sender.exchange(
                    request.method, str(request.url), headers=request.headers, body=body
                )
        except TimeoutError:
            raise ProviderTimeout(f"no answer within {limit_s:g} s") from None
        return httpx.Response(reply.status, headers=reply.headers, content=reply.body)


def make_client(sender: "HttpSender") -> httpx.AsyncClient:
    """Return a client whose only way out is ``sender``; it reads no environment of its own."""
    return httpx.AsyncClient(
        transport=Transport(sender),
        follow_redirects=False,
        trust_env=False,
        timeout=httpx.Timeout(sender.timeout_s),
    )
