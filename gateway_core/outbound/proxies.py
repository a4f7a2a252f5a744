"""Proxies out of the environment, read once and never written back."""

import base64
from collections.abc import Mapping
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

import attrs

from gateway_core.causes import Cause
from gateway_core.errors import ProviderUnreachable
from gateway_core.outbound.no_proxy import NoProxy
from gateway_core.outbound.target import DEFAULT_PORTS, Target, bracketed
from gateway_core.secret import Secret

_UNUSABLE: Final = "the proxy that the environment names is not an http:// or https:// URL"


@attrs.frozen(kw_only=True)
class Proxy:
    """One proxy.

    Attributes:
        scheme: how the proxy itself is spoken to, ``http`` or ``https``.
        host: its host.
        port: its port.
        authorization: the value of ``proxy-authorization``, if it wants a password.
    """

    scheme: str
    host: str
    port: int
    authorization: Secret | None = None

    @property
    def key(self) -> str:
        """What tells this proxy's connections from others in the pool."""
        return f"{self.scheme}://{bracketed(self.host)}:{self.port}"


class Proxies:
    """Which proxy a destination is reached through.

    The lower-case variable wins over the upper-case one, and the scheme's own over
    ``ALL_PROXY``; an empty value means none.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        everything = _variable(environ, "all_proxy")
        self._urls = {
            scheme: _variable(environ, f"{scheme}_proxy", everything) for scheme in DEFAULT_PORTS
        }
        self._no_proxy = NoProxy(_variable(environ, "no_proxy"))

    def proxy_for(self, target: Target) -> Proxy | None:
        """Return the proxy to use for ``target``, or None to go directly.

        Raises:
            ProviderUnreachable: the environment names a proxy that cannot be used; going
                around it would betray whoever set it.
        """
        url = self._urls[target.scheme]
        if not url or self._no_proxy.covers(target):
            return None
        return parse_proxy(url)


def parse_proxy(url: str) -> Proxy:
    """Take a proxy's URL apart; one without a scheme is an http proxy.

    Raises:
        ProviderUnreachable: it is not the URL of an http or https proxy.
    """
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        port = parts.port
    except ValueError:
        raise ProviderUnreachable(_UNUSABLE, cause=Cause.PROXY) from None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname or port == 0:
        raise ProviderUnreachable(_UNUSABLE, cause=Cause.PROXY)
    return Proxy(
        scheme=parts.scheme,
        host=parts.hostname,
        port=port or DEFAULT_PORTS[parts.scheme],
        authorization=_authorization(parts),
    )


def _authorization(parts: SplitResult) -> Secret | None:
    if parts.username is None:
        return None
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return Secret("Basic " + base64.b64encode(pair.encode()).decode("ascii"))


def _variable(environ: Mapping[str, str], name: str, default: str = "") -> str:
    return environ.get(name, environ.get(name.upper(), default)).strip()
