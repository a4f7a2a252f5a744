"""The way out of one provider: one attempt, and what came of it."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from gateway_core.context import Endpoint
from gateway_core.errors import MalformedResponse, ProviderTimeout, ProviderUnreachable
from gateway_core.outbound.connector import Connector
from gateway_core.outbound.decoding import decode
from gateway_core.outbound.head import Headers
from gateway_core.outbound.policy import DestinationPolicy
from gateway_core.outbound.proxies import Proxies
from gateway_core.outbound.reply import Reply
from gateway_core.outbound.route import Route, make_route
from gateway_core.outbound.statuses import status_error
from gateway_core.outbound.target import parse_target
from gateway_core.types import DecisionReply

if TYPE_CHECKING:
    import httpx

_MAX_KNOWN_URLS: Final = 64
_BODILESS: Final = ("GET", "HEAD")
_OF_THE_CODING: Final = ("content-encoding", "content-length")


class HttpSender:
    """Sends for one provider; see ``gateway_core.context.Sender``.

    Attributes:
        timeout_s: the time one attempt may take, in seconds; None for the caller's own limit.
    """

    def __init__(
        self,
        connector: Connector,
        proxies: Proxies,
        endpoint: Endpoint,
        policy: DestinationPolicy | None,
    ) -> None:
        self._connector = connector
        self._proxies = proxies
        self._policy = policy
        self._headers = Headers(endpoint.headers)
        self.timeout_s = endpoint.timeout_s
        self._routes: dict[tuple[str, str], Route] = {}

    async def send(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes
    ) -> DecisionReply:
        """Make one attempt; return a 2xx reply, its content encoding undone.

        Raises:
            ProviderError: the subclass that fits the status or the failure.
        """
        reply = await self.exchange(method, url, headers=headers, body=body)
        if 200 <= reply.status < 300:
            return reply
        raise status_error(reply)

    def client(self) -> "httpx.AsyncClient":
        """Return an ``httpx`` client over the same way out; it follows no redirects."""
        from gateway_core.outbound.httpx_transport import make_client

        return make_client(self)

    async def exchange(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes
    ) -> DecisionReply:
        """Make one attempt and return the reply, whatever its status.

        Raises:
            ProviderTimeout: it took longer than the endpoint's own limit.
            ProviderError: the destination, the connection or the reply was at fault.
        """
        if self.timeout_s is None:
            return await self._exchange(method, url, headers, body)
        try:
            async with asyncio.timeout(self.timeout_s):
                return await self._exchange(method, url, headers, body)
        except TimeoutError:
            raise ProviderTimeout(f"no answer within {self.timeout_s:g} s") from None

    async def _exchange(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> DecisionReply:
        route = self._routes.get((method, url)) or self._route(method, url)
        addresses = route.addresses or await self._connector.judge(route.target, self._policy)
        prefix = route.prefix or route.prefix_for(self._headers, addresses[0])
        length = len(body) if body or method not in _BODILESS else None
        head = self._headers.head(prefix, headers, length)
        connection = await self._connector.connect(route, addresses)
        reply = await connection.exchange(head, body, head_only=method == "HEAD")
        if reply.status == 407 and route.absolute:
            raise ProviderUnreachable("the proxy did not accept its credentials")
        return _decoded(reply)

    def _route(self, method: str, url: str) -> Route:
        target = parse_target(url)
        proxy = self._proxies.proxy_for(target)
        route = make_route(method, target, proxy, self._headers, pinned=self._policy is not None)
        if len(self._routes) >= _MAX_KNOWN_URLS:
            self._routes.clear()
        self._routes[method, url] = route
        return route


def _decoded(reply: Reply) -> DecisionReply:
    if "content-encoding" not in reply.headers:
        return DecisionReply(body=reply.body, status=reply.status, headers=reply.headers)
    try:
        body = decode(reply)
    except MalformedResponse:
        # A refusal is known by its status, however badly its text came over.
        if 200 <= reply.status < 300:
            raise
        body = b""
    kept = {name: text for name, text in reply.headers.items() if name not in _OF_THE_CODING}
    return DecisionReply(body=body, status=reply.status, headers=kept)
