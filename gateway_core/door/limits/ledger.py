"""What this process has let in: enough to count on alone, and to tell a store that lost it."""

import secrets
from collections import Counter
from math import ceil

from gateway_core.door.limits.counting import Bound, Bounds
from gateway_core.door.limits.memory import ProcessLimiter

Slot = tuple[str, str]
"""The name of a bound, and what tells a request under it from all others."""
Slots = list[Slot]


def new_slots(bounds: Bounds) -> Slots:
    """Return a slot for each of ``bounds`` that bounds the requests under way."""
    return [(bound.name, secrets.token_hex(8)) for bound in bounds if bound.concurrency is not None]


class Ledger:
    """The requests of this process, wherever they were counted.

    Attributes:
        counts: what is counted in this process; the store's requests count here as well.
        held: the slots of the requests under way, and whether the store may know of each.
        owed: slots that were given up, and that the store may still hold.
        unsaid: requests that count for a rate and that the store was not told of.
    """

    def __init__(self) -> None:
        """Begin with nothing under way."""
        self.counts = ProcessLimiter()
        self.held: dict[Slot, bool] = {}
        self.owed: dict[Slot, None] = {}
        self.unsaid: Counter[Bound] = Counter()
        self._rated: dict[str, Bound] = {}

    def let_in(self, bounds: Bounds, slots: Slots, *, by_store: bool) -> None:
        """Note a request that was let in; one that the store did not judge is judged here.

        Raises:
            RelayRefused: ``rate_limit_exceeded``.
        """
        rated = [bound for bound in bounds if bound.rpm is not None]
        if by_store:
            self.counts.note(bounds)
        else:
            self.counts.enter(bounds)
            self.unsaid.update(rated)
        self._rated.update((bound.name, bound) for bound in rated)
        for slot in slots:
            # A slot that is owed may have been taken by a call whose answer was lost.
            self.held[slot] = by_store or slot in self.owed
            self.owed.pop(slot, None)

    def let_go(self, bounds: Bounds, slots: Slots) -> Slots:
        """Note the end of a request, and return the slots that the store may hold."""
        self.counts.leave(bounds)
        return [slot for slot in slots if self.held.pop(slot, False)]

    def owe(self, slots: Slots) -> None:
        """Note slots to give back once the store answers; their leases run out anyway."""
        self.owed.update(dict.fromkeys(slots))

    def rates(self, *, forgotten: bool) -> dict[Bound, int]:
        """Return how many requests of this minute's window the store has to be told of.

        Args:
            forgotten: whether the store lost those that it was told of before.
        """
        found = {}
        for bound in self._rated.values() if forgotten else self.unsaid:
            recent = ceil(self.counts.recent(bound))
            number = recent if forgotten else min(recent, self.unsaid[bound])
            if number > 0:
                found[bound] = number
        return found

    def restored(self, held: Slots, given_back: Slots) -> None:
        """Note what the store was told: slots of requests under way, and slots given back."""
        for slot in held:
            if slot in self.held:
                self.held[slot] = True
            else:
                self.owed[slot] = None
        for slot in given_back:
            self.owed.pop(slot, None)
        # What was not told of has room no more, or is too old to count.
        self.unsaid.clear()
