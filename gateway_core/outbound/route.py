"""What can be worked out once for one method and URL of a sender."""

import attrs

from gateway_core.outbound.head import Headers
from gateway_core.outbound.proxies import Proxy
from gateway_core.outbound.target import RouteKey, Target


@attrs.frozen(kw_only=True)
class Route:
    """A method, a target and the proxy on the way.

    Attributes:
        keys: where to connect; empty when that is judged anew for each request.
        prefix: the start of the request's head; empty when it names the judged address.
    """

    method: str
    target: Target
    proxy: Proxy | None
    keys: tuple[RouteKey, ...] = ()
    # It holds the endpoint's secrets.
    prefix: str = attrs.field(default="", repr=False)

    def key(self, address: str) -> RouteKey:
        """Return under which key the pool keeps connections to ``address`` on this route."""
        target = self.target
        via = self.proxy.key if self.proxy else ""
        return RouteKey(target.scheme, target.host, target.port, address, via)

    def prefix_for(self, headers: Headers, address: str) -> str:
        """Return the start of the request's head when it goes to ``address``.

        A proxy is asked for a plain http URL in the absolute form (RFC 9112, section 3.2.2),
        with the judged address in it, so that the proxy looks nothing up.
        """
        authority = self.target.authority
        if not self.absolute:
            return headers.prefix(self.method, self.target.path, authority)
        pinned = attrs.evolve(self.target, host=address).authority
        extra = ""
        if self.proxy is not None and self.proxy.authorization is not None:
            extra = f"proxy-authorization: {self.proxy.authorization.reveal()}\r\n"
        request_target = f"http://{pinned}{self.target.path}"
        return headers.prefix(self.method, request_target, authority, extra)

    @property
    def absolute(self) -> bool:
        """Whether the request line names the whole URL."""
        return self.proxy is not None and not self.target.tls


def make_route(
    method: str, target: Target, proxy: Proxy | None, headers: Headers, address: str | None
) -> Route:
    """Work out the route to ``address``; None when that is judged for each request."""
    route = Route(method=method, target=target, proxy=proxy)
    if address is not None:
        keys, prefix = (route.key(address),), route.prefix_for(headers, address)
        return attrs.evolve(route, keys=keys, prefix=prefix)
    if route.absolute:
        return route
    return attrs.evolve(route, prefix=route.prefix_for(headers, target.host))
