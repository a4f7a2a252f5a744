"""Where limits are counted: what every place of counting can do."""

from typing import Protocol

import attrs
from limits.aio.storage import SlidingWindowCounterSupport


class Slots(Protocol):
    """Counts the requests that are under way."""

    async def take(self, name: str, most: int) -> str | None:
        """Take one of ``most`` slots; return what gives it back, or None when all are taken."""
        ...

    async def give_back(self, name: str, slot: str) -> None:
        """Free a slot."""
        ...

    async def aclose(self) -> None:
        """Close connections, if there are any."""
        ...


@attrs.frozen(eq=False)
class Store:
    """One place where both kinds of limit are counted.

    Attributes:
        windows: requests a minute, as the ``limits`` library's sliding window counters.
        slots: requests under way.
        failures: what either raises when the place does not answer.
    """

    windows: SlidingWindowCounterSupport
    slots: Slots
    failures: tuple[type[Exception], ...] = ()
