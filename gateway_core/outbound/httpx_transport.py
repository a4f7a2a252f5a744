"""``httpx`` over the same way out, for what ``post`` and ``get`` cannot do."""

from math import inf
from typing import TYPE_CHECKING

import httpx

from gateway_core.errors import ProviderTimeout
from gateway_core.time_limits import TimeLimit

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
        found: float | None = request.extensions.get("timeout", {}).get("read")
        limit_s = inf if found is None else found
        body = await request.aread()
        try:
            with TimeLimit(limit_s):
                reply = await self._sender.send(
                    request.method,
                    str(request.url),
                    headers=request.headers,
                    body=body,
                    any_status=True,
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
