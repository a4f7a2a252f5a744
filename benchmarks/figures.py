"""What the relay's runs come to: medians over the rounds, ratios within each."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Final

import attrs

from benchmarks.load import Measured
from benchmarks.relay import Run

PERCENTILES: Final = ("p50", "p90", "p99")
Value = Callable[[Measured], float]


@attrs.frozen
class Spread:
    """The median of a figure over the rounds, and its extremes."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Return the spread of at least one value."""
        return cls(median(values), min(values), max(values))


@attrs.frozen
class Figures:
    """Questions to the runs of a matrix; the answer is None where nothing was measured."""

    runs: Sequence[Run]

    def of(self, target: str, size: str, connections: int, value: Value) -> Spread | None:
        """Return the spread of ``value`` in one cell."""
        return _spread([value(run) for run in self._cell(target, size, connections).values()])

    def ratio(
        self, target: str, other: str, size: str, connections: int, value: Value
    ) -> Spread | None:
        """Return the spread of a target's ``value`` over another's, within each round."""
        mine, theirs = (self._cell(name, size, connections) for name in (target, other))
        return _spread(_quotients(mine, theirs, value))

    def added(self, target: str, size: str, connections: int, which: str) -> Spread | None:
        """Return what a target adds to a percentile of the way without it, in milliseconds."""
        mine, direct = (self._cell(name, size, connections) for name in (target, "direct"))
        return _spread(
            [
                getattr(mine[number].load, which) - getattr(direct[number].load, which)
                for number in mine
                if number in direct
            ]
        )

    def across(self, target: str, size: str, many: int, few: int, value: Value) -> Spread | None:
        """Return the spread of ``value`` at ``many`` connections over that at ``few``."""
        wide, narrow = (self._cell(target, size, connections) for connections in (many, few))
        return _spread(_quotients(wide, narrow, value))

    def _cell(self, target: str, size: str, connections: int) -> dict[int, Measured]:
        wanted = (target, size, connections)
        return {
            run.round: run.measured
            for run in self.runs
            if (run.target, run.size, run.connections) == wanted
        }


def rate(measured: Measured) -> float:
    """Requests a second."""
    return measured.load.rate


def cpu_us(measured: Measured) -> float:
    """CPU microseconds a request."""
    return measured.cpu_us


def _quotients(
    over: Mapping[int, Measured], under: Mapping[int, Measured], value: Value
) -> list[float]:
    return [value(over[n]) / value(under[n]) for n in over if n in under and value(under[n])]


def _spread(values: Sequence[float]) -> Spread | None:
    return Spread.of(values) if values else None
