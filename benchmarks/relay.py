"""The relay beside direct, nginx and LiteLLM: every cell of the matrix, interleaved."""

import contextlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Final

import attrs

from benchmarks import load, targets
from benchmarks.gateway_target import s1gw
from benchmarks.processes import cost
from benchmarks.targets import Target

SIZES: Final = {"1 KB": 1_000, "100 KB": 100_000, "5 MB": 5_000_000}
CONNECTIONS: Final = (1, 16, 64, 256)


@attrs.frozen
class Run:
    """One target in one cell and one round.

    Attributes:
        cpu_us: CPU microseconds of the target's processes, a request.
        memory: resident bytes of the target's processes after the run.
    """

    target: str
    size: str
    connections: int
    load: load.Load
    cpu_us: float
    memory: int


def body_of(size: int) -> bytes:
    """Return a System One body of about ``size`` bytes of structured content."""
    rows = [{"row": row, "text": f"line {row} of the ticket"} for row in range(size // 50)]
    state: object = {"ticket": "x" * max(0, size - 160)} if size < 10_000 else {"rows": rows}
    question = {"type": "noul", "instructions": "Is this urgent?"}
    body = {"model": targets.MODEL, "state": state, "questions": {"decision": question}}
    return json.dumps(body).encode()


@contextlib.contextmanager
def all_targets(folder: Path, reply_size: int, *, slow: bool) -> Iterator[list[Target]]:
    """Run every way to one upstream; LiteLLM only where it can keep up."""
    with contextlib.ExitStack() as stack:
        direct = stack.enter_context(targets.upstream(reply_size))
        found = [
            direct,
            stack.enter_context(targets.nginx(folder, direct)),
            stack.enter_context(s1gw(folder, direct)),
        ]
        if slow:
            found.append(stack.enter_context(targets.litellm(folder, direct)))
        yield found


def matrix(rounds: int, seconds: int, sizes: Sequence[str] = tuple(SIZES)) -> list[Run]:
    """Measure every cell ``rounds`` times, the targets in turn within a round."""
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in sizes:
            with all_targets(folder, min(SIZES[size], 100_000), slow=size == "1 KB") as ways:
                _measure(runs, ways, folder, size, rounds, seconds)
    return runs


def _measure(
    runs: list[Run], ways: list[Target], folder: Path, size: str, rounds: int, seconds: int
) -> None:
    body = body_of(SIZES[size])
    for way in ways:
        load.run(way.url, load.script(folder, body, way.key), 16, 1)
    for _ in range(rounds):
        for connections in CONNECTIONS:
            runs += [_one(way, folder, size, body, connections, seconds) for way in ways]


def _one(way: Target, folder: Path, size: str, body: bytes, connections: int, seconds: int) -> Run:
    before = cost(way.pid)
    measured = load.run(way.url, load.script(folder, body, way.key), connections, seconds)
    after = cost(way.pid)
    cpu_us = (after.cpu_s - before.cpu_s) * 1e6 / max(1, measured.requests)
    print(f"{size:>7} {connections:>4} {way.name:>8}: {measured.rate:>10.0f}/s", flush=True)
    return Run(way.name, size, connections, measured, cpu_us, after.memory)


def typical(runs: Sequence[Run], target: str, size: str, connections: int) -> dict[str, float]:
    """Return the medians over the rounds of one cell; an empty mapping when it was not run."""
    cell = [
        run
        for run in runs
        if (run.target, run.size, run.connections) == (target, size, connections)
    ]
    if not cell:
        return {}
    return {
        "rate": median(run.load.rate for run in cell),
        "low": min(run.load.rate for run in cell),
        "high": max(run.load.rate for run in cell),
        "p50": median(run.load.p50 for run in cell),
        "p90": median(run.load.p90 for run in cell),
        "p99": median(run.load.p99 for run in cell),
        "cpu_us": median(run.cpu_us for run in cell),
        "memory": max(run.memory for run in cell),
        "failed": sum(run.load.failed for run in cell),
    }
