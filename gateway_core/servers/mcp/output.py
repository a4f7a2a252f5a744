"""Lines written to a descriptor by a thread of its own, as many as fit.

A client that does not read blocks the thread, and soon whoever wants to send: what waits to be
written is bounded.
"""

import asyncio
import os
import queue
import select
import threading
from contextlib import suppress
from typing import Final

from anyio import BrokenResourceError

_MOST_WAITING: Final = 1024 * 1024
"""How many bytes may wait to be written before others have to wait to be sent."""


class Output:
    """Lines to a client, in the order in which they are sent.

    Attributes:
        broken: set once the client reads no more.
    """

    def __init__(self, descriptor: int) -> None:
        """Start the thread; there must be a running event loop."""
        self.broken = asyncio.Event()
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._waiting = 0
        self._changed = asyncio.Event()
        threading.Thread(target=self._write, name="stdout", daemon=True).start()

    async def send(self, line: bytes) -> None:
        """Have a line written; wait while too much waits already.

        Args:
            line: without its end.

        Raises:
            BrokenResourceError: the client reads no more.
        """
        await self._fewer_than(_MOST_WAITING)
        if self.broken.is_set():
            raise BrokenResourceError
        self._waiting += len(line) + 1
        self._lines.put(line + b"\n")

    async def flushed(self) -> None:
        """Wait until all is written, or the client reads no more."""
        await self._fewer_than(1)

    async def _fewer_than(self, count: int) -> None:
        while self._waiting >= count and not self.broken.is_set():
            self._changed.clear()
            await self._changed.wait()

    def _write(self) -> None:
        try:
            while True:
                line = self._lines.get()
                _write_all(self._descriptor, line)
                self._loop.call_soon_threadsafe(self._written, len(line))
        except OSError:
            # If the loop was closed meanwhile, nobody needs to know.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._broke)
        except RuntimeError:
            return  # the loop was closed meanwhile

    def _written(self, count: int) -> None:
        self._waiting -= count
        self._changed.set()

    def _broke(self) -> None:
        self.broken.set()
        self._changed.set()


def _write_all(descriptor: int, line: bytes) -> None:
    left = memoryview(line)
    while left:
        try:
            left = left[os.write(descriptor, left) :]
        except BlockingIOError:
            select.select([], [descriptor], [])
