"""The gateway's own id of a request, as the headers of a reply hold it."""

from typing import Final

from gateway_core.http1.messages import header_id

Pairs = list[tuple[bytes, bytes]]
SYSTEMONE: Final = "x-typesafe-request-id"
"""The public System One client fails on a reply without it, whoever the upstream is."""


def own_id(request_id: str) -> bytes:
    """Return the gateway's id of a request as the header of a reply holds it."""
    return header_id(request_id).encode("ascii")


def own_ids(request_id: str) -> Pairs:
    """Return the headers of a reply of the gateway's own: its id, under each name that is read."""
    own = own_id(request_id)
    return [(b"x-request-id", own), (SYSTEMONE.encode("ascii"), own)]
