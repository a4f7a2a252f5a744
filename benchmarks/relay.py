"""The relay beside direct, nginx and LiteLLM: every cell of the matrix, interleaved."""

import contextlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs

from benchmarks import load, targets
from benchmarks.effort import Effort
from benchmarks.gateway_target import s1gw
from benchmarks.processes import cost
from benchmarks.targets import Target

SIZES: Final = {"1 KB": 1_000, "100 KB": 100_000, "5 MB": 5_000_000}
_MOST_IN_FLIGHT: Final = 100_000_000
"""More bytes of bodies at once would measure the machine's memory."""
_LARGEST_REPLY: Final = 100_000


@attrs.frozen
class Run:
    """One target in one cell and one round."""

    target: str
    size: str
    connections: int
    round: int
    measured: load.Measured


@attrs.frozen(kw_only=True)
class Matrix:
    """All runs, and what the idle gateway takes.

    Attributes:
        runs: in the order they were made.
        idle_memory: resident bytes of each target before any request.
    """

    runs: list[Run] = attrs.field(factory=list)
    idle_memory: dict[str, int] = attrs.field(factory=dict)


def body_of(size: int) -> bytes:
    """Return a System One body of about ``size`` bytes of structured content."""
    rows = [{"row": row, "text": f"line {row} of the ticket"} for row in range(size // 50)]
    state: object = {"ticket": "x" * max(0, size - 160)} if size < 10_000 else {"rows": rows}
    question = {"type": "noul", "instructions": "Is this urgent?"}
    body = {"model": targets.MODEL, "state": state, "questions": {"decision": question}}
    return json.dumps(body).encode()


@contextlib.contextmanager
def all_targets(folder: Path, reply_size: int, *, litellm: bool) -> Iterator[list[Target]]:
    """Run every way to one upstream."""
    with contextlib.ExitStack() as stack:
        direct = stack.enter_context(targets.upstream(reply_size))
        found = [
            direct,
            stack.enter_context(targets.nginx(folder, direct)),
            stack.enter_context(s1gw(folder, direct)),
            stack.enter_context(s1gw(folder, direct, compiled=True)),
        ]
        if litellm:
            found.append(stack.enter_context(targets.litellm(folder, direct)))
        yield found


def measure(effort: Effort) -> Matrix:
    """Measure every cell in every round, the targets in turn; LiteLLM with small bodies only."""
    matrix = Matrix()
    with tempfile.TemporaryDirectory() as name:
        for size, length in SIZES.items():
            reply_size = min(length, _LARGEST_REPLY)
            with all_targets(Path(name), reply_size, litellm=size == "1 KB") as ways:
                _measure_size(matrix, ways, Path(name), size, effort)
    return matrix


def _measure_size(
    matrix: Matrix, ways: list[Target], folder: Path, size: str, effort: Effort
) -> None:
    body = body_of(SIZES[size])
    scripts = {way.name: load.script(folder, body, way.keys) for way in ways}
    for way in ways:
        matrix.idle_memory.setdefault(way.name, cost(way.pid).memory)
        load.run(way.url, scripts[way.name], 16, 1)
    for number in range(effort.rounds):
        for connections in effort.connections:
            if connections * len(body) > _MOST_IN_FLIGHT:
                continue
            for way in ways:
                if way.name != "litellm" or connections in effort.litellm:
                    found = load.measure(way, scripts[way.name], connections, effort.seconds)
                    run = Run(way.name, size, connections, number, found)
                    print(f"{size:>7} {connections:>4} {way.name:>8} {found.load.rate:>9.0f}/s")
                    matrix.runs.append(run)
