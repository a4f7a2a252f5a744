"""The gateway's own id of a request, as the headers of a reply hold it."""

from typing import Final
from urllib.parse import quote

Pairs = list[tuple[bytes, bytes]]
SYSTEMONE: Final = "x-typesafe-request-id"
"""The public System One client fails on a reply without it, whoever the upstream is."""


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
    return [(b"x-request-id", own), (SYSTEMONE.encode("ascii"), own)]
