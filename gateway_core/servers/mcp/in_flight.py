"""The requests of one client that have no reply yet, and how many there may be."""

import asyncio
from collections import defaultdict
from typing import Final

MOST: Final = 256
"""How many requests may be under way at once; more wait with the client."""
MOST_BYTES: Final = 32 * 1024 * 1024
"""How many bytes they may have together; one alone may have any number."""


class InFlight:
    """Counts requests from when they are taken until they have their reply."""

    def __init__(self) -> None:
        self._sizes: defaultdict[int | str, list[int]] = defaultdict(list)
        self._count = 0
        self._bytes = 0
        self._changed = asyncio.Event()

    async def add(self, identity: int | str, size: int) -> None:
        """Count a request of ``size`` bytes, once there is room for it."""
        while self._count >= MOST or (self._count and self._bytes + size > MOST_BYTES):
            await self._change()
        self._sizes[identity].append(size)
        self._count += 1
        self._bytes += size

    def settle(self, identity: int | str | None) -> None:
        """Count a request no longer: it has its reply, or its client gave it up."""
        sizes = self._sizes.get(identity) if identity is not None else None
        if not sizes:
            return
        self._count -= 1
        self._bytes -= sizes.pop()
        if not sizes and identity is not None:
            del self._sizes[identity]
        self._changed.set()

    async def none(self) -> None:
        """Wait until every request is settled."""
        while self._count:
            await self._change()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()
