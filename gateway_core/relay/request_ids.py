# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""Under which names a caller finds the id of its call, and the one that the upstream gave it."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from gateway_core.door.request_ids import SYSTEMONE, Pairs
from gateway_core.http1.messages import header_bytes
from gateway_core.types import Format

_OURS: Final = "x-request-id"
_UPSTREAMS: Final = (b"x-s1gw-upstream-request-id",)


def request_ids(
    headers: Mapping[str, str], dialects: str | None, wire: Format, request_id: str
) -> Pairs:
    """Return the headers of a reply that hold request ids.

    ``x-request-id`` always holds the gateway's own. The upstream's goes under the name that the
    dialect's clients read, and, as System One, under that of the public System One client; both
    hold the gateway's where the upstream gave none. If neither name can show it, a name of the
    gateway's does.

    Args:
        headers: the upstream's, lower-case names.
        dialects: the header that the dialect's own clients read, lower-case.
        wire: the format that was asked in.
        request_id: the gateway's.
    """
    upstream_id = headers.get(dialects) if dialects else None
    upstream_id = upstream_id or headers.get(SYSTEMONE) or headers.get(_OURS)
    ours = header_bytes(request_id)
    theirs = header_bytes(upstream_id) if upstream_id else ours
    names = _names(dialects, wire) or (_UPSTREAMS if upstream_id else ())
    return [(b"x-request-id", ours), *[(name, theirs) for name in names]]


@lru_cache(maxsize=64)
def _names(dialects: str | None, wire: Format) -> tuple[bytes, ...]:
    """Return the names that clients read the upstream's id from, if they read one."""
    names = [] if dialects in (None, _OURS, SYSTEMONE) else [dialects]
    if wire is Format.SYSTEMONE or dialects == SYSTEMONE:
        names.append(SYSTEMONE)
    return tuple(map(header_bytes, names))
