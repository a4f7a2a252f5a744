"""Whether a request may run now, by what several gateways count together in one store."""

import asyncio
import logging
import time
from contextlib import suppress
from math import ceil
from typing import Final

import msgspec

from gateway_core.door.limits.counting import Bounds
from gateway_core.door.limits.ledger import Ledger, Slots, new_slots
from gateway_core.door.limits.shared import SharedStore
from gateway_core.door.limits.uncancelled import Uncancelled
from gateway_core.errors import RelayRefused

_log: Final = logging.getLogger("s1gw.limits")
RETRY_S: Final = 5.0


class SharedLimiter:
    """Counts requests in a shared store while it answers, else in this process.

    What the store lets in counts in this process as well, so that nobody is let in twice when the
    store goes down; and a store that comes back is told first what it does not know.
    """

    def __init__(
        self, store: SharedStore, *, refuse_when_down: bool = False, retry_s: float = RETRY_S
    ) -> None:
        """Count in ``store``.

        Args:
            store: where to count.
            refuse_when_down: refuse every request with a limit while the store is down, rather
                than count in this process.
            retry_s: how long a store that failed is left alone, in seconds.
        """
        self._ledger = Ledger()
        self._store = store
        self._refuse_when_down = refuse_when_down
        self._retry_s = retry_s
        self._down_until = 0.0
        self._behind = False
        self._telling = asyncio.Lock()
        self._uncancelled = Uncancelled()
        self._looking: asyncio.Task[None] | None = None
        self._look_next = 0.0

    @property
    def refuses(self) -> bool:
        """Whether every request with a limit is refused now, as far as is known.

        It is asked on an event loop and never waits: where no request has tried the store for
        some time, it is tried beside, and the answer counts for the next time.
        """
        if not self._refuse_when_down:
            return False
        now = time.monotonic()
        if self._looking is None and now >= max(self._look_next, self._down_until):
            self._look_next = now + self._retry_s
            self._looking = asyncio.create_task(self._look())
        return bool(self._down_until)

    def admit(self, bounds: Bounds) -> "SharedAdmission":
        """Return a block that counts a request; see ``Limiter``."""
        return SharedAdmission(self, bounds)

    async def enter(self, bounds: Bounds) -> Slots:
        """Let a request in, and return the slots that it holds."""
        if not bounds:
            return []
        slots = new_slots(bounds)
        if self._down_until and time.monotonic() < self._down_until:
            self._enter_here(bounds, slots)
        else:
            await self._uncancelled.run(
                self._let_in(bounds, slots), lambda task: self._undo(task, bounds, slots)
            )
        return slots

    async def leave(self, bounds: Bounds, slots: Slots) -> None:
        """Free what a request held."""
        reported = self._ledger.let_go(bounds, slots)
        if not reported:
            return
        if self._down_until or self._behind:
            self._ledger.owe(reported)
        else:
            await self._uncancelled.run(self._give_back(reported))

    async def aclose(self) -> None:
        """Close the store's connections, once what is under way there has ended."""
        if self._looking is not None:
            await asyncio.wait((self._looking,))
        await self._uncancelled.ended()
        await self._store.aclose()

    async def _let_in(self, bounds: Bounds, slots: Slots) -> None:
        try:
            await self._enter_store(bounds, slots)
        except self._store.failures as error:
            self._note_failure(error)
            self._ledger.owe(slots)
            self._enter_here(bounds, slots)
            return
        self._ledger.let_in(bounds, slots, by_store=True)
        self._note_answer()

    async def _look(self) -> None:
        """See whether the store answers."""
        try:
            await self._store.ping()
        except self._store.forgot:
            # It answers; what it lost is told before it lets anybody in.
            self._behind = True
            self._note_answer()
        except self._store.failures as error:
            self._note_failure(error)
        else:
            self._note_answer()
        finally:
            self._looking = None

    async def _enter_store(self, bounds: Bounds, slots: Slots) -> None:
        await self._tell()
        try:
            await self._store.enter(bounds, slots)
        except self._store.forgot:
            self._behind = True
            await self._tell()
            await self._store.enter(bounds, slots)

    async def _tell(self) -> None:
        """Tell the store what it does not know, before it lets anybody in."""
        while self._behind:
            async with self._telling:
                if self._behind:
                    await self._store.restore(self._ledger)
                    self._behind = bool(self._ledger.owed)

    async def _give_back(self, slots: Slots) -> None:
        try:
            await self._store.leave(slots)
        except self._store.failures:
            # Whether the store is down is for the next request to find out.
            self._ledger.owe(slots)
            self._behind = True

    async def _undo(self, entering: "asyncio.Task[None]", bounds: Bounds, slots: Slots) -> None:
        """Free what a request got that was given up while it was let in."""
        with suppress(RelayRefused):
            await entering
            await self.leave(bounds, slots)

    def _enter_here(self, bounds: Bounds, slots: Slots) -> None:
        if self._refuse_when_down:
            raise RelayRefused(
                "limits_unavailable",
                "the store of the rate limits does not answer",
                headers={"retry-after": str(ceil(self._retry_s))},
            )
        self._ledger.let_in(bounds, slots, by_store=False)

    def _note_answer(self) -> None:
        if self._down_until:
            self._down_until = 0.0
            _log.warning("the limits store answers again")

    def _note_failure(self, error: Exception) -> None:
        self._behind = True
        if not self._down_until:
            course = "refusing" if self._refuse_when_down else "counting limits in this process"
            _log.warning("the limits store is down (%s): %s", type(error).__name__, course)
        self._down_until = time.monotonic() + self._retry_s


class SharedAdmission(msgspec.Struct, gc=False):
    """A request that counts while the block runs."""

    limiter: SharedLimiter
    bounds: Bounds
    slots: Slots = []

    async def __aenter__(self) -> None:
        """Enter."""
        self.slots = await self.limiter.enter(self.bounds)

    async def __aexit__(self, *_: object) -> None:
        """Leave."""
        await self.limiter.leave(self.bounds, self.slots)
