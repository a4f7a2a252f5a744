"""Lines read from a descriptor by a thread of its own, with bounds.

A thread, since a regular file, a terminal and Windows' pipes cannot be waited for by an event
loop. It reads one piece ahead, and the next only when that one is being used: what nobody takes
stays with the client. It is a daemon, for a read under way cannot be interrupted.
"""

import asyncio
import os
import select
import threading
from typing import Final

import attrs

_PIECE: Final = 64 * 1024
_END: Final = b"\n"


@attrs.frozen
class Line:
    """One line without its end.

    Attributes:
        head: the whole line, or the beginning of one that is too long.
        tail: the end of one that is too long.
    """

    head: bytes
    tail: bytes | None = None


class Splitter:
    """Pieces of a text made into lines, of which long ones are not kept."""

    def __init__(self, longest: int, edge: int) -> None:
        """Take the bounds.

        Args:
            longest: the most bytes of a line that is kept whole.
            edge: how many bytes are kept of either end of a longer one.
        """
        self._longest, self._edge = longest, edge
        self._held = bytearray()
        self._searched = 0
        self._head: bytes | None = None

    def add(self, piece: bytes) -> None:
        """Take the next piece."""
        self._held += piece

    def next(self) -> Line | None:
        """Return the next line, if it has come whole."""
        end = self._held.find(_END, self._searched)
        if end < 0:
            self._searched = len(self._held)
            self._shorten()
            return None
        line = self._line(bytes(self._held[:end]))
        del self._held[: end + 1]
        self._searched = 0
        return line

    def rest(self) -> Line | None:
        """Return what came after the last end of a line, if anything did."""
        if not self._held and self._head is None:
            return None
        line = self._line(bytes(self._held))
        self._held.clear()
        return line

    def _shorten(self) -> None:
        if len(self._held) <= self._longest:
            return
        if self._head is None:
            self._head = bytes(self._held[: self._edge])
        del self._held[: -self._edge]
        self._searched = len(self._held)

    def _line(self, content: bytes) -> Line:
        head, self._head = self._head, None
        if head is None and len(content) <= self._longest:
            return Line(content)
        return Line(content[: self._edge] if head is None else head, content[-self._edge :])


class Lines:
    """The lines of a descriptor, until its end."""

    def __init__(self, descriptor: int, splitter: Splitter) -> None:
        """Start to read; there must be a running event loop."""
        self._descriptor = descriptor
        self._splitter = splitter
        self._loop = asyncio.get_running_loop()
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = threading.Semaphore()
        threading.Thread(target=self._read, name="stdin", daemon=True).start()

    async def next(self) -> Line | None:
        """Return the next line; None after the last."""
        while (line := self._splitter.next()) is None:
            piece = await self._pieces.get()
            if not piece:
                self._pieces.put_nowait(piece)
                return self._splitter.rest()
            self._room.release()
            self._splitter.add(piece)
        return line

    def _read(self) -> None:
        piece = b"-"
        while piece:
            self._room.acquire()
            piece = _read_some(self._descriptor)
            try:
                self._loop.call_soon_threadsafe(self._pieces.put_nowait, piece)
            except RuntimeError:
                return  # the loop was closed meanwhile


def _read_some(descriptor: int) -> bytes:
    """Return what there is to read; nothing at the end, or when the other side is gone."""
    while True:
        try:
            return os.read(descriptor, _PIECE)
        except BlockingIOError:
            # The client made its side of the pipe non-blocking, which is this side too.
            select.select([descriptor], [], [])
        except OSError:
            return b""
