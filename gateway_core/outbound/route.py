"""What can be worked out once for one method and URL of a sender."""

import attrs

from gateway_core.outbound.head import HeadWriter
from gateway_core.outbound.proxies import Proxy
from gateway_core.outbound.target import RouteKey, Target


@attrs.frozen(kw_only=True)
class Route:
    """A method, a target and the proxy on the way.

    Attributes:
        keys: where to connect; empty when that is judged anew for each request.
        tunnel: whether the proxy is asked for a way through, rather than for the URL.
        prefix: the start of the request's head.
    """

    method: str
    target: Target
    proxy: Proxy | None
    tunnel: bool = False
    keys: tuple[RouteKey, ...] = ()
    # It holds the endpoint's secrets.
    prefix: str = attrs.field(default="", repr=False)

    def key(self, address: str) -> RouteKey:
        """Return under which key the pool keeps connections to ``address`` on this route."""
        target = self.target
        via = self.proxy.key if self.proxy else ""
        return RouteKey(target.scheme, target.host, target.port, address, via)

    @property
    def absolute(self) -> bool:
        """Whether the request line names the whole URL, as proxies are asked for plain http."""
        return self.proxy is not None and not self.tunnel


def make_route(
    method: str, target: Target, proxy: Proxy | None, headers: HeadWriter, address: str | None
) -> Route:
    """Work out the route to ``address``; None when that is judged for each request.

    A judged address is reached through a tunnel (``CONNECT``), for plain http, too: in the
    absolute form (RFC 9112, section 3.2.2) the request line would name the address, so that the
    proxy looks nothing up, and the proxy would make a Host of it that is not the origin's name.
    """
    tunnel = proxy is not None and (target.tls or address is None)
    route = Route(method=method, target=target, proxy=proxy, tunnel=tunnel)
    keys = () if address is None else (route.key(address),)
    return attrs.evolve(route, keys=keys, prefix=_prefix(route, headers, address))


def _prefix(route: Route, headers: HeadWriter, address: str | None) -> str:
    """Return the start of the request's head."""
    target, proxy = route.target, route.proxy
    if not route.absolute or address is None:
        return headers.prefix(route.method, target.path, target.authority)
    extra = ""
    if proxy is not None and proxy.authorization is not None:
        extra = f"proxy-authorization: {proxy.authorization.reveal()}\r\n"
    pinned = attrs.evolve(target, host=address).authority
    return headers.prefix(route.method, f"http://{pinned}{target.path}", target.authority, extra)
