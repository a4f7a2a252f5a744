# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""A request's body, handed over in pieces as it comes in."""

import asyncio
from typing import Final, Protocol

from gateway_core.errors import RelayRefused

HIGH_WATER: Final = 256 * 1024
"""How much may wait to be read before the client is made to wait, in bytes."""


class ClientGone(Exception):
    """The client left before its request was whole."""


class BodySource(Protocol):
    """Where a body comes from."""

    def hold(self) -> None:
        """Send no more for now: too much is waiting."""

    def proceed(self) -> None:
        """Send more: the reader has taken all there is."""


class RequestBody:
    """Pieces in, pieces out; holds the client back when nobody reads.

    Attributes:
        received: how much came in, in bytes.
        complete: whether all of it did.
    """

    def __init__(self, source: BodySource) -> None:
        """Take who sends it."""
        self.received = 0
        self.complete = False
        self._source = source
        self._taken = 0
        self._pieces: list[bytes] = []
        self._reader: asyncio.Future[None] | None = None
        self._fault: RelayRefused | ClientGone | None = None
        self._discarding = False

    def feed(self, piece: bytes) -> None:
        """Take a piece that came in."""
        self.received += len(piece)
        if self._discarding:
            return
        self._pieces.append(piece)
        if self.received - self._taken > HIGH_WATER:
            self._source.hold()
        if self._reader is not None:
            self._wake(self._reader)

    def finish(self) -> None:
        """Take the body as whole."""
        self.complete = True
        if self._reader is not None:
            self._wake(self._reader)

    def fail(self, fault: RelayRefused | ClientGone) -> None:
        """Have the reader raise ``fault``: the rest will not come."""
        self._fault = fault
        self._pieces.clear()
        if self._reader is not None:
            self._wake(self._reader)

    def discard(self) -> None:
        """Drop what is left, and whatever still comes: the reply is given."""
        self._discarding = True
        self._pieces.clear()

    def _wake(self, reader: asyncio.Future[None]) -> None:
        if not reader.done():
            reader.set_result(None)

    def take(self) -> bytes | None:
        """Return the body if it came whole and in one piece, as most do; None for any other."""
        if self.complete and len(self._pieces) == 1 and not self._taken:
            return self._pieces.pop()
        return None

    async def more(self) -> list[bytes]:
        """Return what came since it was last asked for, at the end nothing.

        Raises:
            ClientGone: nobody is there any more to send the rest.
            RelayRefused: the rest is not valid HTTP, or did not come in time.
        """
        while not self._pieces:
            if self._fault is not None:
                raise self._fault
            self._source.proceed()
            if self.complete:
                return []
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        pieces, self._pieces = self._pieces, []
        self._taken = self.received
        return pieces
