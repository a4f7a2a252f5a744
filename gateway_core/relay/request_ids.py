"""Under which names a caller finds the id of its call, and the one that the upstream gave it."""

from collections.abc import Mapping
from typing import Final

from gateway_core.types import Format

_OURS: Final = "x-request-id"
_SYSTEMONE: Final = "x-typesafe-request-id"
"""The public System One client fails on a reply without it, whoever the upstream is."""
_UPSTREAMS: Final = "x-s1gw-upstream-request-id"


def request_ids(
    headers: Mapping[str, str], dialects: str | None, wire: Format, own: str
) -> list[tuple[str, str]]:
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
    found = [(_OURS, own)]
    if dialects is not None and dialects not in (_OURS, _SYSTEMONE):
        found.append((dialects, given or own))
    if wire is Format.SYSTEMONE or dialects == _SYSTEMONE:
        found.append((_SYSTEMONE, given or own))
    if given and len(found) == 1:
        found.append((_UPSTREAMS, given))
    return found
