"""The head of a request."""

from typing import Final

import msgspec

EXPECT: Final = b"expect"


class Head(msgspec.Struct, eq=False, gc=False):
    """A request's line and headers.

    Attributes:
        method: in upper case.
        path: without the query, percent-encoding undone but for that of a slash, which separates
            nothing (RFC 3986, section 2.2).
        headers: lower-case names; the values of one that is repeated are joined by commas.
        keep_alive: whether another request may follow.
    """

    method: str
    path: str
    headers: dict[bytes, bytes]
    keep_alive: bool

    def __repr__(self) -> str:
        return f"Head({self.method} {self.path}, {len(self.headers)} headers)"
