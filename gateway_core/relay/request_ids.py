"""Under which names a caller finds the id of its call, and the one that the upstream gave it."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from gateway_core.types import Format

Pairs = list[tuple[bytes, bytes]]
_OURS: Final = "x-request-id"
_SYSTEMONE: Final = "x-typesafe-request-id"
"""The public System One client fails on a reply without it, whoever the upstream is."""
_UPSTREAMS: Final = (b"x-s1gw-upstream-request-id",)


def request_ids(headers: Mapping[str, str], dialects: str | None, wire: Format, own: str) -> Pairs:
    """Return the headers of a reply that hold request ids.

    ``x-request-id`` always holds the gateway's own. The upstream's goes under the name that the
    dialect's clients read, and, as System One, under that of the public System One client; both
    hold the gateway's where the upstream gave none. If neither name can show it, a name of the
    gateway's does.

    Args:
        headers: the upstream's, lower-case names.
        dialects: the header that the dialect's own clients read, lower-case.
        wire: the format that was asked in.
        own: the gateway's id.
    """
    given = headers.get(dialects) if dialects else None
    given = given or headers.get(_SYSTEMONE) or headers.get(_OURS)
    ours = as_bytes(own)
    theirs = as_bytes(given) if given else ours
    names = _names(dialects, wire) or (_UPSTREAMS if given else ())
    return [(b"x-request-id", ours), *[(name, theirs) for name in names]]


@lru_cache(maxsize=64)
def _names(dialects: str | None, wire: Format) -> tuple[bytes, ...]:
    """Return the names that clients read the upstream's id from, if they read one."""
    names = [] if dialects in (None, _OURS, _SYSTEMONE) else [dialects]
    if wire is Format.SYSTEMONE or dialects == _SYSTEMONE:
        names.append(_SYSTEMONE)
    return tuple(map(as_bytes, names))


def own_id(request_id: str) -> bytes:
    """Return the gateway's id of a request as a header holds it.

    A caller of the decide contract may name any text; what no header can hold is percent-encoded.
    """
    if request_id.isascii() and request_id.isprintable():
        return request_id.encode("ascii")
    return quote(request_id).encode("ascii")


def own_ids(request_id: str) -> Pairs:
    """Return the headers of a reply of the gateway's own: its id, under each name that is read."""
    own = own_id(request_id)
    return [(b"x-request-id", own), (_SYSTEMONE.encode("ascii"), own)]


def as_bytes(text: str) -> bytes:
    """Return a header's text as it goes over the wire."""
    return text.encode("latin-1", "replace")
