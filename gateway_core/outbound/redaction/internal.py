"""Internal URLs, host names and addresses in a message."""

import re
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s\"'<>`|\\^{}]+")
_V4: Final = re.compile(
    r"(?<![\w.])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]{1,5})?(?![\w])(?!\.[0-9])"
)
_V6: Final = re.compile(
    r"\[?(?<![\w:.])[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]{2,44}(?:%\w+)?(?:\]:[0-9]{1,5}|\])?"
)
_SUFFIXES: Final = (
    *("internal", "intranet", "local", "localdomain", "localhost", "lan", "corp", "home", "svc"),
    *("cluster", "private", "test", "invalid", "home.arpa"),
)
_INTERNAL: Final = "|".join(map(re.escape, _SUFFIXES))
_NAME: Final = re.compile(
    rf"(?<![\w.-])(?:[A-Za-z0-9_-]+\.)+(?:{_INTERNAL})\.?(?::[0-9]{{1,5}})?(?![\w-])(?!\.\w)",
    re.IGNORECASE,
)
_HOST_AND_PORT: Final = re.compile(
    r"(?<![\w.-])(?:localhost(?::[0-9]{1,5})?|[A-Za-z0-9][A-Za-z0-9.-]*:(?:[0-9]{4,5}|80|443))(?!\w)",
    re.IGNORECASE,
)


def internal_places(text: str, hosts: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield where ``text`` has an internal URL, name or address.

    Any address counts, since no message needs one. A URL counts unless its host is a public
    name, such as that of a vendor's documentation.

    Args:
        text: the message.
        hosts: names that are internal whatever they look like, such as the provider's own.
    """
    for url in _URL.finditer(text):
        if not _is_public(url[0], hosts):
            yield url.span()
    for pattern in (_V4, _NAME, _HOST_AND_PORT):
        yield from (place.span() for place in pattern.finditer(text))
    for place in _V6.finditer(text):
        if _is_address(place[0]):
            yield place.span()
    for host in filter(None, hosts):
        named = rf"(?<![\w-]){re.escape(host)}(?::[0-9]+)?(?![\w-])"
        yield from (place.span() for place in re.finditer(named, text, re.IGNORECASE))


def _is_public(url: str, hosts: frozenset[str]) -> bool:
    try:
        parts = urlsplit(url.rstrip(".,;:!?)]"))
        host = (parts.hostname or "").rstrip(".").lower()
    except ValueError:
        return False
    if "@" in parts.netloc or host in hosts or parts.scheme not in ("http", "https"):
        return False
    last = host.rpartition(".")[2]
    return "." in host and not _is_address(host) and last.isalpha() and not _is_internal(host)


def _is_internal(host: str) -> bool:
    return any(host.endswith(f".{suffix}") for suffix in _SUFFIXES)


def _is_address(text: str) -> bool:
    bare = re.sub(r"\]:[0-9]+$", "", text).strip("[]").partition("%")[0].rstrip(".:,")
    try:
        ip_address(bare)
    except ValueError:
        return False
    return True
