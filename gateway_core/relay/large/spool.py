"""A body as it comes in: in pieces while it is small, in an anonymous file once it is large.

The memory of such a file is given back as soon as it is closed, and another process can read it
without a copy. What C's allocator is given in many pieces it may keep for good.
"""

import os
import sys
import tempfile
from typing import Final

SMALL: Final = 256 * 1024
"""Up to this size a body is decoded and checked on the event loop, in about a millisecond."""

_PIECE: Final = 16 * 1024


class Spool:
    """Bytes, in the order in which they are added.

    Attributes:
        size: how many there are.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self.size = 0
        self._pieces: list[bytes] = []
        self._tail = bytearray()
        self._waiting = 0
        self._file: int | None = None

    def add(self, piece: bytes) -> None:
        """Take the next piece."""
        self.size += len(piece)
        self._waiting += len(piece)
        if len(piece) < _PIECE and (self._pieces or self._tail):
            # Many small pieces would take several times the memory of what is in them.
            self._tail += piece
        else:
            self._flush()
            self._pieces.append(piece)
        if len(self._tail) >= _PIECE:
            self._flush()
        if self._waiting > SMALL:
            self.file()

    def content(self) -> bytes:
        """Return all bytes, of a spool that is small."""
        self._flush()
        return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)

    def file(self) -> int:
        """Return the descriptor of a file that holds all bytes."""
        if self._file is None:
            self._file = new_file()
        self._flush()
        for piece in self._pieces:
            write_all(self._file, piece)
        self._pieces.clear()
        self._waiting = 0
        return self._file

    def _flush(self) -> None:
        if self._tail:
            self._pieces.append(bytes(self._tail))
            self._tail.clear()

    def close(self) -> None:
        """Free the memory."""
        self._pieces.clear()
        self._tail.clear()
        if self._file is not None:
            os.close(self._file)
            self._file = None


def new_file() -> int:
    """Return the descriptor of a new file without a name."""
    if sys.platform == "linux":
        return os.memfd_create("s1gw-body")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def write_all(file: int, content: bytes) -> None:
    """Write ``content`` to the end of what was written."""
    view = memoryview(content)
    while view:
        view = view[os.write(file, view) :]


def read_all(file: int, size: int) -> bytes:
    """Return the first ``size`` bytes of a file; other threads go on meanwhile."""
    content = os.pread(file, size, 0)
    while len(content) < size:
        content += os.pread(file, size - len(content), len(content))
    return content
