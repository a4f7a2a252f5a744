"""Which web pages may call a gateway that asks nobody for a key.

A browser sends whatever any page asks it to, from inside every firewall. Two headers, which no
page can choose, tell: ``Host`` holds the page's own name when that was made to point here (DNS
rebinding), and browsers put ``Origin`` on whatever a page posts elsewhere.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from gateway_core.errors import RelayRefused
from gateway_core.http1.messages import Headers
from gateway_core.loopback import literal
from gateway_core.urls import is_loopback_url

_WAY_OUT: Final = "add it to http.allowed_hosts if it is to be"


class PageGuard:
    """Takes calls that name this machine, and refuses those of other sites' pages."""

    def __init__(self, hosts: Iterable[str]) -> None:
        """Take the names beside loopback's that are the gateway's or may call it."""
        self._hosts = frozenset(host.casefold() for host in hosts)

    def check(self, headers: Headers) -> None:
        """Refuse what a page of another site sent.

        Raises:
            RelayRefused: ``host_not_allowed`` or ``origin_not_allowed``.
        """
        host, origin = headers.get(b"host"), headers.get(b"origin")
        # No browser leaves the host out.
        if host is not None and not _is_ours(self._hosts, host):
            raise RelayRefused(
                "host_not_allowed", f"this Host is not the gateway's; {_WAY_OUT}", "host"
            )
        if origin is not None and not _may_call(self._hosts, origin, host):
            raise RelayRefused(
                "origin_not_allowed", f"this Origin may not use the gateway; {_WAY_OUT}", "origin"
            )


@lru_cache(maxsize=256)
def _is_ours(hosts: frozenset[str], host: bytes) -> bool:
    """Say whether ``host`` is one of ours; a bare address needs no name that could lie."""
    url = _url(b"http://" + host)
    return _is_known(hosts, url) or literal(urlsplit(url).hostname or "") is not None


def _may_call(hosts: frozenset[str], origin: bytes, host: bytes | None) -> bool:
    url = _url(origin)
    return url != "" and (_is_known(hosts, url) or origin.partition(b"://")[2] == host)


def _is_known(hosts: frozenset[str], url: str) -> bool:
    parts = urlsplit(url)
    return is_loopback_url(url) or not hosts.isdisjoint((parts.netloc, parts.hostname))


def _url(text: bytes) -> str:
    """Return ``text`` in lower case if it is a URL with a host, else nothing."""
    try:
        url = text.decode("ascii").lower()
        return url if urlsplit(url).hostname else ""
    except ValueError:
        return ""
