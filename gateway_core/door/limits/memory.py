# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""Limits counted in this process, where nothing ever waits."""

import time
from collections.abc import Callable

from gateway_core.door.limits.counting import MINUTE_S, Bound, Bounds, too_many, too_often


class ProcessLimiter:
    """Lets requests in by what this process counts.

    The rate is that of the ``limits`` library's sliding window counter: the requests of this
    minute, and those of the one before weighted by how much of it lies within the last 60 seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Count by ``clock``, which gives seconds: one that is set back would count anew."""
        self._clock = clock

    def admit(self, bounds: Bounds) -> "Admission":
        """Return a block that counts a request; see ``Limiter``."""
        return Admission(self, bounds)

    @property
    def refuses(self) -> bool:
        """Whether every request with a limit is refused: never."""
        return False

    def enter(self, bounds: Bounds) -> None:
        """Let a request in; nothing else can happen before it is in.

        Raises:
            RelayRefused: ``rate_limit_exceeded``.
        """
        for bound in bounds:
            if bound.concurrency is not None and bound.under_way >= bound.concurrency:
                raise too_many(bound.concurrency)
        minute, elapsed_s = divmod(self._clock(), MINUTE_S)
        rest_s = MINUTE_S - elapsed_s
        for bound in bounds:
            if bound.minute != minute:
                bound.turn_to(minute)
            if bound.rpm is not None:
                if bound.previous * rest_s / MINUTE_S + bound.current >= bound.rpm:
                    raise too_often(bound.rpm, bound.previous, bound.current, rest_s)
                bound.current += 1
        for bound in bounds:
            bound.under_way += 1

    def note(self, bounds: Bounds) -> None:
        """Count a request that another limiter let in."""
        minute = self._clock() // MINUTE_S
        for bound in bounds:
            if bound.minute != minute:
                bound.turn_to(minute)
            if bound.rpm is not None:
                bound.current += 1
            bound.under_way += 1

    def recent(self, bound: Bound) -> float:
        """Return how many requests count for the rate of ``bound`` now."""
        minute, elapsed_s = divmod(self._clock(), MINUTE_S)
        if bound.minute != minute:
            bound.turn_to(minute)
        return bound.previous * (MINUTE_S - elapsed_s) / MINUTE_S + bound.current

    def leave(self, bounds: Bounds) -> None:
        """Free what a request held."""
        for bound in bounds:
            bound.under_way -= 1

    async def aclose(self) -> None:
        """Do nothing: there is no connection."""


class Admission:
    """A request that counts while the block runs."""

    __slots__ = ("_bounds", "_limiter")

    def __init__(self, limiter: ProcessLimiter, bounds: Bounds) -> None:
        """Take what the request counts against."""
        self._limiter = limiter
        self._bounds = bounds

    async def __aenter__(self) -> None:
        """Enter."""
        self._limiter.enter(self._bounds)

    async def __aexit__(self, *_: object) -> None:
        """Leave."""
        self._limiter.leave(self._bounds)
