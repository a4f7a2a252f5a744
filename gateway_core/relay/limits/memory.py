"""Limits counted in this process, where nothing ever waits."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final

from limits.aio.storage import MemoryStorage

from gateway_core.relay.limits.counting import MINUTE_S, Bound, too_many, too_often
from gateway_core.relay.limits.store import Entry

_SLOT: Final = "slot"
_NO_WINDOW: Final = (-1.0, 0, 0)


class ProcessWindows(MemoryStorage):
    """The library's storage in memory, without its sweep of every counter at every hit.

    There is one window for each key and organization with a limit, so nothing needs sweeping.
    The count is the library's: that of the window so far, and the one before it weighted by how
    much of it still lies within the last ``expiry`` seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._clock = clock
        self._windows: dict[str, tuple[float, int, int]] = {}

    async def acquire_sliding_window_entry(
        self, key: str, limit: int, expiry: int, amount: int = 1
    ) -> bool:
        """Count ``amount`` more for ``key`` if ``limit`` allows, and say whether it does."""
        return self.hit(key, limit, expiry, amount)

    async def get_sliding_window(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        """Return the count and remaining seconds of the window before and of this one."""
        return self.window(key, expiry)

    def hit(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Do as ``acquire_sliding_window_entry``, at once."""
        index, elapsed = divmod(self._clock(), expiry)
        seen, previous, current = self._windows.get(key, _NO_WINDOW)
        if seen != index:
            previous, current = (current if seen == index - 1 else 0), 0
        if int(previous * (expiry - elapsed) / expiry) + current + amount > limit:
            return False
        self._windows[key] = (index, previous, current + amount)
        return True

    def window(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        """Do as ``get_sliding_window``, at once."""
        index, elapsed = divmod(self._clock(), expiry)
        seen, previous, current = self._windows.get(key, _NO_WINDOW)
        if seen != index:
            previous, current = (current if seen == index - 1 else 0), 0
        return previous, expiry - elapsed, current, 2 * expiry - elapsed


class ProcessStore:
    """Requests a minute, and requests under way, of this process."""

    failures: tuple[type[Exception], ...] = ()

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """Count by ``clock``, which gives seconds."""
        self._windows = ProcessWindows(clock)
        self._under_way: defaultdict[str, int] = defaultdict(int)

    async def enter(self, bounds: Sequence[Bound]) -> Entry:
        """Let a request in; see ``Store``. Nothing else can happen before it is in."""
        under_way, windows = self._under_way, self._windows
        for bound in bounds:
            if bound.concurrency is not None and under_way[bound.name] >= bound.concurrency:
                raise too_many(bound.concurrency)
        for bound in bounds:
            if bound.rpm is not None and not windows.hit(bound.window, bound.rpm, MINUTE_S):
                raise too_often(bound.rpm, *windows.window(bound.window, MINUTE_S))
        slots = [(bound.name, _SLOT) for bound in bounds if bound.concurrency is not None]
        for name, _ in slots:
            under_way[name] += 1
        return Entry(self, slots)

    async def leave(self, entry: Entry) -> None:
        """Free what a request held."""
        for name, _ in entry.slots:
            self._under_way[name] -= 1

    async def aclose(self) -> None:
        """Do nothing: there is no connection."""
