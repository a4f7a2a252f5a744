"""Memory over time, many idle connections, and many requests that wait for a slow upstream."""

import asyncio
import tempfile
from pathlib import Path
from statistics import median
from typing import Final

import attrs

from benchmarks import load, targets
from benchmarks.clients import ask_once, connect_many
from benchmarks.effort import Effort
from benchmarks.gateway_target import s1gw
from benchmarks.processes import cost
from benchmarks.relay import body_of
from benchmarks.targets import Target

IDLE: Final = 2_000
ACTIVE: Final = 256
IN_FLIGHT: Final = 500
SLOW_S: Final = 10.0


@attrs.frozen(kw_only=True)
class Endurance:
    """What a long life costs.

    Attributes:
        requests: after how many requests memory was read.
        memory: resident bytes after each of ``requests``.
        idle_ratio: throughput beside the idle connections over that without them.
        idle_memory: resident bytes that the idle connections took.
        idle_answered: how many of the idle connections were answered afterwards.
        waiting: for each size of a body in bytes, the resident bytes that ``IN_FLIGHT`` waiting
            requests took, and how many were answered.
    """

    requests: tuple[int, int]
    memory: tuple[int, int]
    idle_ratio: float
    idle_memory: int
    idle_answered: int
    waiting: dict[int, tuple[int, int]]


def measure(effort: Effort) -> Endurance:
    """Measure all three."""
    body = body_of(1_000)
    with tempfile.TemporaryDirectory() as name, targets.upstream(1_000) as provider:
        folder = Path(name)
        with s1gw(folder, provider) as gateway:
            lua = load.script(folder, body, gateway.keys)
            memory = _over_time(gateway, lua, effort.requests)
        with s1gw(folder, provider) as gateway:
            lua = load.script(folder, body, gateway.keys)
            idle = asyncio.run(_beside_idle(gateway, lua, body, effort))
        waiting = {size: _waiting(folder, size) for size in (1_000, 100_000)}
    return Endurance(
        requests=effort.requests,
        memory=memory,
        idle_ratio=idle[0],
        idle_memory=idle[1],
        idle_answered=idle[2],
        waiting=waiting,
    )


def _over_time(gateway: Target, lua: Path, requests: tuple[int, int]) -> tuple[int, int]:
    sent, seen = 0, []
    for count in requests:
        while sent < count:
            sent += load.run(gateway.url, lua, 16, 1).requests
        seen.append(cost(gateway.pid).memory)
    return seen[0], seen[1]


async def _beside_idle(
    gateway: Target, lua: Path, body: bytes, effort: Effort
) -> tuple[float, int, int]:
    load.run(gateway.url, lua, ACTIVE, 1)
    ratios = []
    for _ in range(effort.rounds):
        alone = load.run(gateway.url, lua, ACTIVE, effort.seconds)
        before = cost(gateway.pid).memory
        clients = await connect_many(gateway, IDLE)
        await ask_once(gateway, clients, body)
        memory = cost(gateway.pid).memory - before
        beside = await asyncio.to_thread(load.run, gateway.url, lua, ACTIVE, effort.seconds)
        ratios.append(beside.rate / alone.rate)
        answered = (await ask_once(gateway, clients, body)).count(200)
        for client in clients:
            client.close()
    return median(ratios), memory, answered


def _waiting(folder: Path, size: int) -> tuple[int, int]:
    with (
        targets.upstream(1_000, SLOW_S) as provider,
        s1gw(folder, provider) as gateway,
    ):
        return asyncio.run(_wait(gateway, body_of(size)))


async def _wait(gateway: Target, body: bytes) -> tuple[int, int]:
    before = cost(gateway.pid).memory
    clients = await connect_many(gateway, IN_FLIGHT)
    for client in clients:
        client.send(gateway, body, gateway.keys[0])
    waiting = asyncio.gather(*(client.status() for client in clients))
    # The middle of the wait: all have been sent on, and none is answered.
    await asyncio.sleep(SLOW_S * 0.6)
    memory = cost(gateway.pid).memory - before
    answered = (await waiting).count(200)
    return memory, answered
