# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""Limits on how long a block of a task may take, cheap enough for every request.

``asyncio.timeout`` makes a timer for each block and cancels it again. Here all blocks of an event
loop share one timer, which is due when the first of them runs out of time; leaving a block in
time touches no timer at all.
"""

import asyncio
import threading
from asyncio import current_task, get_running_loop
from math import inf
from types import TracebackType
from typing import Final

# Limits that run out this close together are found by one look at all of them.
_GRAIN_S: Final = 0.02


class TimeLimit:
    """A block that has ``seconds`` to end: ``with TimeLimit(5): await ...``.

    As with ``asyncio.timeout``, the task is cancelled when they are over, and its cancellation
    leaves the block as a ``TimeoutError``; blocks nest, and a cancellation by anybody else passes.
    It may come some 20 ms late, never early. One object serves one block.
    """

    __slots__ = ("_cancelling", "_seconds", "_task", "_watch")

    _task: "asyncio.Task[object]"
    _cancelling: int
    _watch: "_Watch"

    def __init__(self, seconds: float) -> None:
        """Take the time in seconds, which begins with the block; ``math.inf`` for no limit."""
        self._seconds = seconds

    def __enter__(self) -> None:
        """Begin; raise ``RuntimeError`` outside a task, where there is nothing to cancel."""
        loop = get_running_loop()
        task = current_task(loop)
        if task is None:
            raise RuntimeError("a time limit needs a task")
        watch: _Watch | None = getattr(_thread, "watch", None)
        if watch is None or watch.loop is not loop:
            watch = _thread.watch = _Watch(loop)
        self._task, self._cancelling, self._watch = task, task.cancelling(), watch
        until = watch.under_way[self] = loop.time() + self._seconds
        if until < watch.due:
            watch.wake(until)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End; raise ``TimeoutError`` when the block was cancelled for its time alone."""
        if self._watch.under_way.pop(self, None) is not None:
            return
        others = self._task.uncancel() > self._cancelling
        if isinstance(error, asyncio.CancelledError) and not others:
            raise TimeoutError from error

    def run_out(self) -> None:
        """Cancel the block, which is no longer watched."""
        self._task.cancel()


class _Watch:
    """The blocks under way in one event loop, and the one timer for all of them.

    Attributes:
        loop: the event loop.
        under_way: when each block runs out of time, on the loop's clock.
        due: when the timer is due; infinitely late while there is none.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.under_way: dict[TimeLimit, float] = {}
        self.due = inf
        self._timer: asyncio.TimerHandle | None = None

    def wake(self, when: float) -> None:
        """Look at all blocks at ``when``, and not before."""
        if self._timer is not None:
            self._timer.cancel()
        self.due = when
        self._timer = self.loop.call_at(when, self._look)

    def _look(self) -> None:
        now = self.loop.time()
        for limit in [limit for limit, until in self.under_way.items() if until <= now]:
            del self.under_way[limit]
            limit.run_out()
        # Blocks that ended in time have left the timer as it was: it is set for who is left.
        self._timer, self.due = None, inf
        soonest = min(self.under_way.values(), default=inf)
        if soonest < inf:
            self.wake(max(soonest, now + _GRAIN_S))


# A thread runs one event loop at a time; a watch that it lost sight of works to its end.
_thread: Final = threading.local()
