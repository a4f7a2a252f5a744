"""Limits counted in this process: as the library counts them, and by name for good."""

import random
import subprocess
import sys
from types import SimpleNamespace

import pytest
from limits.aio.storage import MemoryStorage, memory

from gateway_core.config.model import LimitsConfig, OrgConfig
from gateway_core.door.callers import OPERATOR, Caller
from gateway_core.door.limits.admission import BoundTable
from gateway_core.door.limits.counting import Bound, Bounds
from gateway_core.door.limits.memory import ProcessLimiter
from gateway_core.door.rights import CallerKind
from gateway_core.errors import RelayRefused


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 1_000_000 * 60.0

    def __call__(self) -> float:
        return self.now


def refused(limiter: ProcessLimiter, *bounds: Bound) -> RelayRefused:
    with pytest.raises(RelayRefused) as caught:
        limiter.enter(bounds)
    return caught.value


def admits(limiter: ProcessLimiter, *bounds: Bound) -> bool:
    try:
        limiter.enter(bounds)
    except RelayRefused:
        return False
    return True


def test_waiting_as_told_is_enough_and_less_is_not() -> None:
    clock, bound = Clock(), Bound(name="key:a", rpm=30)
    limiter = ProcessLimiter(clock)
    for _ in range(30):
        clock.now += 1
        limiter.enter((bound,))
    for _ in range(40):
        error = refused(limiter, bound)
        wait = int(error.headers["retry-after"])
        clock.now += wait - 1.001
        if wait > 1:
            refused(limiter, bound)
        clock.now += 1.001
        limiter.enter((bound,))


SET_BACK = """
import time
time.time = lambda: now
now = 1_000_000_000.0
from gateway_core.errors import RelayRefused
from gateway_core.door.limits.counting import Bound
from gateway_core.door.limits.memory import ProcessLimiter
limiter, bound = ProcessLimiter(), Bound(name="key:a", rpm=1)
limiter.enter((bound,))
now -= 3600
try:
    limiter.enter((bound,))
except RelayRefused as error:
    print(error.headers["retry-after"])
"""


def test_setting_the_clock_back_lets_nobody_in_and_keeps_nobody_out() -> None:
    found = subprocess.run([sys.executable, "-c", SET_BACK], capture_output=True, check=True)
    assert 0 < int(found.stdout) <= 121


def test_a_rate_holds_across_the_windows_edge() -> None:
    clock, bound = Clock(), Bound(name="key:a", rpm=10)
    clock.now += 59
    limiter = ProcessLimiter(clock)
    for _ in range(10):
        limiter.enter((bound,))
    clock.now += 2
    limiter.enter((bound,))
    refused(limiter, bound)
    clock.now += 120
    limiter.enter((bound,))


def test_at_the_first_moment_of_a_minute_the_one_before_counts_in_full() -> None:
    clock, bound = Clock(), Bound(name="key:a", rpm=10)
    limiter = ProcessLimiter(clock)
    for _ in range(10):
        limiter.enter((bound,))
    clock.now += 60
    assert refused(limiter, bound).headers["retry-after"] == "1"


@pytest.mark.anyio
@pytest.mark.parametrize("most", [1, 3, 40])
async def test_every_request_is_let_in_or_refused_as_the_library_does(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, steps = Clock(), random.Random(most)
    # The library has no clock of its own to set.
    monkeypatch.setattr(memory, "time", SimpleNamespace(time=clock))
    limiter, bound, library = ProcessLimiter(clock), Bound(name="key:a", rpm=most), MemoryStorage()
    seen = set()
    for _ in range(2000):
        # About twice as many as are let in, and now and then a pause.
        clock.now += 200 * steps.random() if steps.random() < 0.02 else steps.expovariate(most / 30)
        told = await library.acquire_sliding_window_entry("key:a", most, 60)
        assert admits(limiter, bound) == told
        seen.add(told)
    assert seen == {True, False}


def test_a_request_refused_for_those_under_way_counts_for_no_rate() -> None:
    limiter = ProcessLimiter(Clock())
    key, org = Bound(name="key:a", rpm=2), Bound(name="org:acme", concurrency=1)
    limiter.enter((key, org))
    for _ in range(5):
        refused(limiter, key, org)
    limiter.leave((key, org))
    limiter.enter((key, org))


@pytest.mark.anyio
async def test_a_request_that_fails_gives_back_what_it_held() -> None:
    limiter, bound = ProcessLimiter(), Bound(name="key:a", concurrency=1)

    async def failing() -> None:
        async with limiter.admit((bound,)):
            refused(limiter, bound)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await failing()
    assert admits(limiter, bound)


def caller(org: str | None = "acme", key_id: str = "a", **limits: int) -> Caller:
    return Caller(kind=CallerKind.ORG, key_id=key_id, org=org, limits=LimitsConfig(**limits))


LIMITED = {"acme": OrgConfig(limits=LimitsConfig(rpm=9)), "free": OrgConfig()}


def told(bounds: Bounds) -> list[tuple[str, int | None, int | None]]:
    return [(bound.name, bound.rpm, bound.concurrency) for bound in bounds]


@pytest.mark.parametrize(
    ("who", "expected"),
    [
        (caller(rpm=5, concurrency=2), [("key:a", 5, 2), ("org:acme", 9, None)]),
        (caller(), [("org:acme", 9, None)]),
        (caller("free", rpm=5), [("key:a", 5, None)]),
        (caller("unknown"), []),
        (caller(None), []),
        (OPERATOR, []),
    ],
)
def test_a_caller_is_under_its_keys_limits_then_its_organizations(
    who: Caller, expected: list[tuple[str, int | None, int | None]]
) -> None:
    assert told(BoundTable(LIMITED).of(who)) == expected


def test_a_renewed_key_goes_on_where_the_old_one_was_under_the_limits_it_has_now() -> None:
    table, limiter = BoundTable(LIMITED), ProcessLimiter(Clock())
    old = table.of(caller(concurrency=1))
    limiter.enter(old)
    new = table.of(caller(concurrency=2))
    limiter.enter(new)
    assert refused(limiter, *new).headers["x-ratelimit-limit"] == "2"
    limiter.leave(old)
    limiter.enter(new)


def test_the_keys_of_an_organization_count_for_it_together() -> None:
    table, limiter = BoundTable(LIMITED), ProcessLimiter(Clock())
    for number in range(9):
        limiter.enter(table.of(caller(key_id=str(number))))
    assert refused(limiter, *table.of(caller(key_id="x"))).headers["x-ratelimit-limit"] == "9"
