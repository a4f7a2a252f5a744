"""Work that goes on to its end when nobody waits for it any more."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class Uncancelled:
    """Runs short work apart from the tasks that wait for it.

    What is cut off in the middle may have taken something already, or not have given it back
    yet; and on Python 3.11 a store's client may lose the cancellation itself.
    """

    def __init__(self) -> None:
        """Begin with nothing under way."""
        self._under_way: set[asyncio.Task[Any]] = set()

    async def run(
        self,
        work: Coroutine[Any, Any, Result],
        undo: Callable[[asyncio.Task[Result]], Coroutine[Any, Any, None]] | None = None,
    ) -> Result:
        """Return what comes of ``work``; a cancellation ends the waiting alone.

        Args:
            work: what is done.
            undo: what is done next if the waiting is cancelled; it is given the work's task.
        """
        task = self._start(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if undo is not None:
                self._start(undo(task))
            raise

    async def ended(self) -> None:
        """Wait for the end of all that is under way."""
        while self._under_way:
            await asyncio.wait(self._under_way)

    def _start(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return task
