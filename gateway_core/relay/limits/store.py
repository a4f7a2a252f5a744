"""Where limits are counted: what every place of counting can do."""

from collections.abc import Sequence
from typing import Protocol

import attrs

from gateway_core.relay.limits.counting import Bound


class Store(Protocol):
    """Counts requests under their bounds.

    Attributes:
        failures: what is raised when the place does not answer.
    """

    failures: tuple[type[Exception], ...]

    async def enter(self, bounds: Sequence[Bound]) -> "Entry":
        """Let a request in under every one of ``bounds``; the first has its say first.

        A request that is refused holds nothing, and counts for no bound after the one that
        refused it, so that a key over its own limit does not use up its organization's.

        Raises:
            RelayRefused: ``rate_limit_exceeded``.
        """
        ...

    async def leave(self, entry: "Entry") -> None:
        """Free what a request held."""
        ...

    async def aclose(self) -> None:
        """Close connections, if there are any."""
        ...


@attrs.define(eq=False)
class Entry:
    """A request that was let in: by whom, and the slots that it holds, by their bounds' names."""

    store: Store
    slots: list[tuple[str, str]] = attrs.field(factory=list)
