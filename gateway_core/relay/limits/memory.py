"""Limits counted in this process."""

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Final

from limits.aio.storage import MemoryStorage

from gateway_core.relay.limits.store import Store

_SLOT: Final = "slot"


class ProcessWindows(MemoryStorage):
    """The library's storage in memory, without its sweep of every counter at every hit.

    There is one window for each key and organization with a limit, so nothing needs sweeping.
    The count is the library's: that of the window so far, and the one before it weighted by how
    much of it still lies within the last ``expiry`` seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._clock = clock
        self._windows: dict[str, tuple[int, int, int]] = {}

    async def acquire_sliding_window_entry(
        self, key: str, limit: int, expiry: int, amount: int = 1
    ) -> bool:
        """Count ``amount`` more for ``key`` if ``limit`` allows, and say whether it does."""
        index, elapsed = divmod(self._clock(), expiry)
        previous, current = self._counts(key, int(index))
        if int(previous * (expiry - elapsed) / expiry) + current + amount > limit:
            return False
        self._windows[key] = (int(index), previous, current + amount)
        return True

    async def get_sliding_window(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        """Return the count and remaining seconds of the window before and of this one."""
        index, elapsed = divmod(self._clock(), expiry)
        previous, current = self._counts(key, int(index))
        return previous, expiry - elapsed, current, 2 * expiry - elapsed

    def _counts(self, key: str, index: int) -> tuple[int, int]:
        seen, previous, current = self._windows.get(key, (index, 0, 0))
        if seen == index:
            return previous, current
        return (current if seen == index - 1 else 0), 0


class ProcessSlots:
    """Requests under way in this process."""

    def __init__(self) -> None:
        self._taken: defaultdict[str, int] = defaultdict(int)

    async def take(self, name: str, most: int) -> str | None:
        """Take one of ``most`` slots, unless all are taken."""
        if self._taken[name] >= most:
            return None
        self._taken[name] += 1
        return _SLOT

    async def give_back(self, name: str, _slot: str) -> None:
        """Free a slot."""
        self._taken[name] -= 1

    async def aclose(self) -> None:
        """Do nothing: there is no connection."""


def process_store(clock: Callable[[], float] = time.time) -> Store:
    """Return a store for one process; ``clock`` gives seconds."""
    return Store(ProcessWindows(clock), ProcessSlots())
