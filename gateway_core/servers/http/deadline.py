# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""A deadline that is moved often and hardly ever reached."""

import asyncio
from collections.abc import Callable
from math import inf


class Deadline:
    """Calls ``expire`` once the time is over that was set last.

    Moving it later costs no timer: the one that is armed finds out when it fires.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, expire: Callable[[], None]) -> None:
        """Prepare, with nothing due."""
        self._loop = loop
        self._expire = expire
        self._due = inf
        self._armed_for = inf
        self._timer: asyncio.TimerHandle | None = None

    def set(self, seconds: float) -> None:
        """Let the time be over in ``seconds``."""
        self._due = due = self._loop.time() + seconds
        if due < self._armed_for:
            self._arm()

    def left(self) -> float:
        """Return how many seconds are left; infinity when nothing is due."""
        return self._due - self._loop.time()

    def clear(self) -> None:
        """Let nothing be due."""
        self._due = inf

    def stop(self) -> None:
        """Let nothing be due ever again."""
        self._due = inf
        if self._timer is not None:
            self._timer.cancel()

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._armed_for = self._due
        self._timer = self._loop.call_at(self._due, self._fire)

    def _fire(self) -> None:
        self._timer, self._armed_for = None, inf
        if self._loop.time() >= self._due:
            self._due = inf
            self._expire()
        elif self._due < inf:
            self._arm()
