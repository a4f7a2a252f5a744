# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""The way out of one provider: one attempt, and what came of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from gateway_core.bounded_cache import BoundedCache
from gateway_core.causes import Cause
from gateway_core.context import Endpoint
from gateway_core.errors import ProviderUnreachable
from gateway_core.outbound.connector import Connector
from gateway_core.outbound.decoding import decoded_reply
from gateway_core.outbound.head import HeadWriter
from gateway_core.outbound.policy import DestinationPolicy
from gateway_core.outbound.proxies import Proxies
from gateway_core.outbound.route import Route, make_route
from gateway_core.outbound.statuses import status_error
from gateway_core.outbound.target import parse_target
from gateway_core.types import DecisionReply

if TYPE_CHECKING:
    import httpx

_PROXY_LOGIN: Final = "the proxy did not accept its credentials"
_MAX_KNOWN_URLS: Final = 64
_BODILESS: Final = ("GET", "HEAD")
# Without a policy every route has its keys; should one lack them, it fails closed.
_STRICT: Final = DestinationPolicy()


class HttpSender:
    """Sends for one provider; see ``gateway_core.context.Sender``.

    It sets no limit of time: whoever asks a provider does.

    Attributes:
        timeout_s: what its ``httpx`` clients take for their limit, in seconds; None for none.
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
        self._headers = HeadWriter(endpoint.headers)
        self.timeout_s = endpoint.timeout_s
        self._routes: BoundedCache[tuple[str, str], Route] = BoundedCache(_MAX_KNOWN_URLS)

    async def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes,
        any_status: bool = False,
    ) -> DecisionReply:
        """Make one attempt; return a 2xx reply, its content encoding undone.

        With ``any_status`` every other reply is returned as well.

        Raises:
            ProviderError: the destination, the connection or the reply was at fault; the
                subclass that fits the status or the failure.
        """
        route = self._routes.get((method, url)) or self._route(method, url)
        keys = route.keys or await self._connector.judge(route, self._policy or _STRICT)
        length = len(body) if body or method not in _BODILESS else None
        head = self._headers.head(route.prefix, headers, length)
        connection = self._connector.take(keys) or await self._connector.open(route, keys)
        reply = await connection.exchange(head, body, head_only=method == "HEAD")
        if "content-encoding" in reply.headers:
            reply = decoded_reply(reply)
        if 200 <= reply.status < 300:
            return reply
        if reply.status == 407 and route.absolute:
            raise ProviderUnreachable(_PROXY_LOGIN, cause=Cause.PROXY)
        if any_status:
            return reply
        raise status_error(reply)

    def client(self) -> "httpx.AsyncClient":
        """Return an ``httpx`` client over the same way out; it follows no redirects."""
        from gateway_core.outbound.httpx_transport import make_client

        return make_client(self)

    def _route(self, method: str, url: str) -> Route:
        target = parse_target(url)
        proxy = self._proxies.proxy_for(target)
        # The verdict on an address cannot change, and so it holds for the route.
        address = target.host if self._policy is None else self._policy.check_literal(target.host)
        route = make_route(method, target, proxy, self._headers, address)
        return self._routes.keep((method, url), route)
