"""A large configuration beside a small one, and two workers beside one."""

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import attrs

from benchmarks import load, targets
from benchmarks.clients import Client, ask_once
from benchmarks.effort import Effort
from benchmarks.figures import Spread
from benchmarks.gateway_target import Setting, Size, s1gw, wait_until_ready, write_setting
from benchmarks.processes import GATEWAY_CORE, TWO_CORES, cost, free_port, running
from benchmarks.relay import body_of
from benchmarks.targets import Target

LARGE: Final = Size(orgs=500, providers=4, keys=5_000)
SMALL: Final = Size()
_CONNECTIONS: Final = 64


@attrs.frozen(kw_only=True)
class Scale:
    """What size costs.

    Attributes:
        start_s: seconds to readiness, small and large.
        memory: resident bytes once every key was used, small and large.
        cpu: CPU of a request with the large configuration over that with the small one, when one
            key is used.
        cpu_in_turn: the same when all keys are used in turn, so that no processor cache holds
            what they need.
        workers: throughput of two workers over that of one.
        workers_cpu: CPU of a request with two workers over that with one.
    """

    start_s: tuple[Spread, Spread]
    memory: tuple[int, int]
    cpu: Spread
    cpu_in_turn: Spread
    workers: Spread
    workers_cpu: Spread


def measure(effort: Effort) -> Scale:
    """Measure both."""
    with tempfile.TemporaryDirectory() as name, targets.upstream(1_000) as provider:
        folder = Path(name)
        starts = [_starts(folder, provider, size, effort.rounds) for size in (SMALL, LARGE)]
        with (
            s1gw(folder, provider, size=SMALL) as small,
            s1gw(folder, provider, size=LARGE) as large,
        ):
            in_turn = _compare(folder, (small, large), effort)
            one_key = attrs.evolve(large, keys=large.keys[:1])
            sizes = _compare(folder, (small, one_key), effort)
            memory = (cost(small.pid).memory, cost(large.pid).memory)
        with (
            s1gw(folder, provider, workers=1) as one,
            s1gw(folder, provider, workers=2, cores=TWO_CORES) as two,
        ):
            workers = _compare(folder, (one, two), effort)
    return Scale(
        start_s=(starts[0], starts[1]),
        memory=memory,
        cpu=Spread.of([b.cpu_us / a.cpu_us for a, b in sizes]),
        cpu_in_turn=Spread.of([b.cpu_us / a.cpu_us for a, b in in_turn]),
        workers=Spread.of([b.load.rate / a.load.rate for a, b in workers]),
        workers_cpu=Spread.of([b.cpu_us / a.cpu_us for a, b in workers]),
    )


def _starts(folder: Path, provider: Target, size: Size, rounds: int) -> Spread:
    setting = write_setting(folder, provider, size)
    return Spread.of([_start(setting) for _ in range(rounds)])


def _start(setting: Setting) -> float:
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.gateway", str(setting.config), str(port), "1"]
    began = time.perf_counter()
    with running(command, port, GATEWAY_CORE, setting.environment):
        wait_until_ready(port)
        return time.perf_counter() - began


async def _use_every_key(target: Target) -> None:
    client = await Client.connect(target)
    await ask_once(target, [client] * len(target.keys), body_of(1_000))
    client.close()


def _compare(
    folder: Path, pair: Sequence[Target], effort: Effort
) -> list[tuple[load.Measured, load.Measured]]:
    scripts = [load.script(folder, body_of(1_000), target.keys) for target in pair]
    for target, lua in zip(pair, scripts, strict=True):
        # Every key is used once: what is built at first use is no part of a request's cost.
        asyncio.run(_use_every_key(target))
        load.run(target.url, lua, _CONNECTIONS, 1)
    found = []
    for _ in range(effort.rounds):
        one, other = (
            load.measure(target, lua, _CONNECTIONS, effort.seconds)
            for target, lua in zip(pair, scripts, strict=True)
        )
        found.append((one, other))
    return found
