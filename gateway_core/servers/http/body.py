"""A request's body, handed over chunk by chunk as it comes in."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, Self

from gateway_core.errors import RelayRefused

HIGH_WATER: Final = 256 * 1024
"""How much may wait to be read before the client is made to wait, in bytes."""


class ClientGone(Exception):
    """The client left before its request was whole."""


class Valve:
    """Makes a client wait, or lets it send."""

    def __init__(self, transport: asyncio.Transport) -> None:
        """Take the connection, which is read from."""
        self._transport = transport
        self._open = True

    def close(self) -> None:
        """Read no more for now."""
        if self._open:
            self._open = False
            self._transport.pause_reading()

    def open(self) -> None:
        """Read on."""
        if not self._open and not self._transport.is_closing():
            self._open = True
            self._transport.resume_reading()


class RequestBody:
    """Chunks in, chunks out; holds the client back when nobody reads."""

    def __init__(self, wanted: Callable[[], None], pause: Callable[[], None]) -> None:
        """Prepare for a body of any length.

        Args:
            wanted: called when the reader has taken all there is.
            pause: called when too much is waiting.
        """
        self._wanted = wanted
        self._pause = pause
        self._chunks: deque[bytes] = deque()
        self._waiting = 0
        self._reader: asyncio.Future[None] | None = None
        self._fault: RelayRefused | ClientGone | None = None
        self._discarding = False
        self.received = 0
        self.complete = False

    def feed(self, chunk: bytes) -> None:
        """Take a chunk that came in."""
        self.received += len(chunk)
        if self._discarding:
            return
        self._chunks.append(chunk)
        self._waiting += len(chunk)
        if self._waiting > HIGH_WATER:
            self._pause()
        self._wake()

    def finish(self) -> None:
        """Take the body as whole."""
        self.complete = True
        self._wake()

    def fail(self, fault: RelayRefused | ClientGone) -> None:
        """Have the reader raise ``fault``: the rest will not come."""
        self._fault = fault
        self._wake()

    def discard(self) -> None:
        """Drop what is left, and whatever still comes: the reply is given."""
        self._discarding = True
        self._chunks.clear()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        """Return the next chunk.

        Raises:
            ClientGone: nobody is there any more to send the rest.
            RelayRefused: the rest is not valid HTTP, or did not come in time.
        """
        while not self._chunks:
            if self._fault is not None:
                raise self._fault
            self._wanted()
            if self.complete:
                raise StopAsyncIteration
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        chunk = self._chunks.popleft()
        self._waiting -= len(chunk)
        return chunk
