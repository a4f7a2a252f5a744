"""What both directions of HTTP have: headers, and a whole reply."""

from collections.abc import Mapping
from urllib.parse import quote

import msgspec

Headers = Mapping[bytes, bytes]
"""A request's headers, lower-case names, as an HTTP parser gives them."""


class HttpReply(msgspec.Struct, kw_only=True, gc=False):
    """A reply, before it is written to the wire.

    Attributes:
        status: the HTTP status.
        headers: lower-case names, ``content-length`` left to the server.
        body: whole, as it goes over the wire.
    """

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes

    def __repr__(self) -> str:
        return f"HttpReply(status={self.status}, headers={self.headers}, {len(self.body)} bytes)"


def header_bytes(text: str) -> bytes:
    """Return a header's text as it goes over the wire."""
    return text.encode("latin-1", "replace")


def header_id(request_id: str) -> str:
    """Return a request's id as a header can carry it, in a request as in a reply.

    A caller of the decide contract may name any text; what no header can hold is percent-encoded,
    so that a line break in it is no header of its own.
    """
    plain = request_id.isascii() and request_id.isprintable() and request_id == request_id.strip()
    return request_id if plain else quote(request_id, safe="")
