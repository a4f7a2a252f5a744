"""A URL taken apart once: where to connect and what the request line says."""

from typing import Final, NamedTuple
from urllib.parse import quote, urlsplit

import attrs

from gateway_core.errors import DestinationUnusable

DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_KEPT: Final = "/:?[]@!$&'()*+,;=%~-._"
_HOST_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-._~%:")
_LONGEST_NAME: Final = 253
_LONGEST_LABEL: Final = 63
"""In octets (RFC 1035, section 2.3.4); Python's resolver raises ``UnicodeError`` beyond."""


class RouteKey(NamedTuple):
    """Where a connection leads: all that requests must have in common to share it.

    Attributes:
        scheme: the target's.
        host: the target's.
        port: the target's.
        address: where the host is connected to.
        proxy: the proxy on the way; empty for none.
    """

    scheme: str
    host: str
    port: int
    address: str
    proxy: str


@attrs.frozen(kw_only=True)
class Target:
    """Where a request goes.

    Attributes:
        scheme: ``http`` or ``https``.
        host: the host in ASCII and lower case, without brackets.
        port: the port, the scheme's own when the URL names none.
        path: path and query as the request line carries them.
    """

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """What the ``host`` header says: the port only where it is not the scheme's own."""
        if self.port == DEFAULT_PORTS[self.scheme]:
            return bracketed(self.host)
        return f"{bracketed(self.host)}:{self.port}"

    @property
    def tls(self) -> bool:
        """Whether the request travels over TLS."""
        return self.scheme == "https"


def parse_target(url: str) -> Target:
    """Take ``url`` apart.

    Raises:
        DestinationUnusable: it is no http or https URL with a host.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
        query = f"?{parts.query}" if parts.query else ""
        path = quote((parts.path or "/") + query, safe=_KEPT)
    except ValueError:
        raise DestinationUnusable("the URL is not a URL") from None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname or port == 0:
        raise DestinationUnusable("the URL must be http:// or https:// with a host")
    if "@" in parts.netloc:
        raise DestinationUnusable("the URL must not carry a user name or password")
    return Target(
        scheme=parts.scheme,
        host=_ascii_host(parts.hostname),
        port=port or DEFAULT_PORTS[parts.scheme],
        path=path,
    )


def bracketed(host: str) -> str:
    """Return ``host`` as a URL spells it: IPv6 literals in brackets."""
    return f"[{host}]" if ":" in host else host


def _ascii_host(host: str) -> str:
    # IDNA also folds full-width digits and dots, so that what is judged is what is dialled.
    try:
        name = host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        raise DestinationUnusable("the URL's host is not a valid name") from None
    name = name.lower()
    # A percent sign begins the zone of an IPv6 address and is part of nothing else.
    if not _HOST_CHARACTERS.issuperset(name) or "%" in name.split(":")[0] or not _has_labels(name):
        raise DestinationUnusable("the URL's host is not a valid name")
    return name


def _has_labels(name: str) -> bool:
    """Say whether a name, with or without a dot at its end, has labels that DNS can carry."""
    labels = name.removesuffix(".").split(".")
    return len(name) <= _LONGEST_NAME + 1 and all(0 < len(one) <= _LONGEST_LABEL for one in labels)
