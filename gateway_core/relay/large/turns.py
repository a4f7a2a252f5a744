"""Whose turn it is: a few at a time, the tenants one after the other."""

import asyncio
from collections import Counter, deque
from typing import Final

from gateway_core.relay.large.held import no_room

_MOST_WAITING: Final = 64
"""How many bodies of one tenant may wait."""


class Turns:
    """Lets a bounded number of tasks run; a tenant with many waits for those with few."""

    def __init__(self, most: int, most_per_tenant: int) -> None:
        """Let ``most`` run at once, ``most_per_tenant`` of them for one tenant."""
        self._free = most
        self._per_tenant = most_per_tenant
        self._running: Counter[str] = Counter()
        # The tenant that comes first is the one that has waited longest since its last turn.
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    async def take(self, tenant: str) -> None:
        """Wait for a turn.

        Raises:
            RelayRefused: ``provider_overloaded``: too many of the tenant's wait already.
        """
        queue = self._waiting.setdefault(tenant, deque())
        if len(queue) >= _MOST_WAITING:
            raise no_room()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(turn)
        self._start()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give_back(tenant)
            raise

    def give_back(self, tenant: str) -> None:
        """End a turn."""
        self._free += 1
        self._running[tenant] -= 1
        if not self._running[tenant]:
            del self._running[tenant]
        self._start()

    def _start(self) -> None:
        while self._free and (tenant := self._next()) is not None:
            turn = self._waiting[tenant].popleft()
            # Its next turn is after those of all others.
            queue = self._waiting.pop(tenant)
            if queue:
                self._waiting[tenant] = queue
            if not turn.done():
                self._free -= 1
                self._running[tenant] += 1
                turn.set_result(None)

    def _next(self) -> str | None:
        ready = (name for name in self._waiting if self._running[name] < self._per_tenant)
        return next(ready, None)
