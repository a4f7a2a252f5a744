"""The relay's matrix in tables: targets first, then every cell."""

import math
from collections.abc import Iterator, Sequence
from typing import Final

from benchmarks.document import NOTHING, Goal, goals, spread, table
from benchmarks.figures import PERCENTILES, Figures, cpu_us, rate
from benchmarks.relay import SIZES, Matrix

WAYS: Final = ("direct", "nginx", "compiled", "s1gw", "litellm")
_MEGABYTE: Final = 1e6


def render(matrix: Matrix) -> str:
    """Return the tables of ``matrix``."""
    figures = Figures(matrix.runs)
    return "\n\n".join(
        [
            goals(*_goals(matrix, figures, "s1gw")),
            "With the hot modules compiled:",
            goals(*_goals(matrix, figures, "compiled")),
            *(f"**{size} bodies**\n\n{_cells(figures, size)}" for size in SIZES),
            table(("resident memory", "MB"), _memory(matrix)),
        ]
    )


def _goals(matrix: Matrix, figures: Figures, way: str) -> Iterator[Goal]:
    over = figures.ratio
    litellm, nginx = (over(way, other, "1 KB", 16, rate) for other in ("litellm", "nginx"))
    yield Goal("throughput over LiteLLM's, 16 connections, 1 KB", litellm, least=100, digits=0)
    yield Goal("throughput over nginx's, 16 connections, 1 KB", nginx, least=0.2)
    large = over(way, "nginx", "100 KB", 16, rate)
    yield Goal("throughput over nginx's, 16 connections, 100 KB", large, least=0.3)
    added = figures.added(way, "1 KB", 1, "p50")
    least = figures.added("nginx", "1 KB", 1, "p50")
    ratio = added.middle / least.middle if added and least else None
    yield Goal("added p50 over nginx's, 1 connection, 1 KB", ratio, most=2.5)
    yield Goal("added p50, 1 connection, 1 KB, ms", added, most=0.6)
    slowest = figures.of(way, "1 KB", 1, lambda run: run.load.p99)
    yield Goal("p99, 1 connection, 1 KB, ms", slowest, most=2)
    wide = figures.across(way, "1 KB", 256, 16, rate)
    yield Goal("throughput at 256 connections over that at 16, 1 KB", wide, least=0.9)
    idle = matrix.idle_memory[way] / _MEGABYTE
    yield Goal("resident memory when idle, MB", idle, most=80, digits=0)


def _cells(figures: Figures, size: str) -> str:
    head = ("conn. and way", "requests/s", "of nginx's", "CPU µs", "added p50 ms", "p90", "p99")
    connections = sorted({run.connections for run in figures.runs})
    return table((*head, "failed"), list(_rows(figures, size, connections)))


def _rows(figures: Figures, size: str, connections: Sequence[int]) -> Iterator[Sequence[str]]:
    for count in connections:
        for way in WAYS:
            reached = figures.of(way, size, count, rate)
            if reached is None:
                continue
            added = [spread(figures.added(way, size, count, which)) for which in PERCENTILES]
            failed = figures.of(way, size, count, lambda run: run.load.failed)
            yield (
                f"{count} {way}",
                spread(reached, 0),
                spread(figures.ratio(way, "nginx", size, count, rate)),
                spread(figures.of(way, size, count, cpu_us), 0),
                *(added if way != "direct" else [NOTHING] * len(added)),
                f"{failed.high:.0f}" if failed else NOTHING,
            )


def _memory(matrix: Matrix) -> Iterator[Sequence[str]]:
    for way in WAYS:
        after = [run.measured.memory for run in matrix.runs if run.target == way]
        if after:
            idle = matrix.idle_memory.get(way, math.nan) / _MEGABYTE
            yield f"{way}, idle", f"{idle:.0f}"
            yield f"{way}, most after a run", f"{max(after) / _MEGABYTE:.0f}"
