"""Limits of keys and organizations, counted in this process and in a shared store."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from redis.asyncio import Redis

from gateway_core.config.model import HttpConfig
from gateway_core.door.limits.counting import Bound
from gateway_core.door.limits.joint import SharedLimiter
from gateway_core.door.limits.limiter import Limiter, open_limiter
from gateway_core.door.limits.memory import ProcessLimiter
from gateway_core.door.limits.shared import shared_store
from gateway_core.errors import ConfigError, RelayRefused
from gateway_core.secret import Secret


def key(rpm: int | None = None, concurrency: int | None = None, name: str = "key:a") -> Bound:
    return Bound(name=name, rpm=rpm, concurrency=concurrency)


def org(rpm: int | None = None, concurrency: int | None = None) -> Bound:
    return key(rpm, concurrency, "org:acme")


async def enter(limiter: Limiter, *bounds: Bound) -> AbstractAsyncContextManager[None]:
    admission = limiter.admit(bounds)
    await admission.__aenter__()
    return admission


async def leave(admission: AbstractAsyncContextManager[None]) -> None:
    await admission.__aexit__(None, None, None)


async def refused(limiter: Limiter, *bounds: Bound) -> RelayRefused:
    with pytest.raises(RelayRefused) as caught:
        await enter(limiter, *bounds)
    return caught.value


@pytest.fixture(params=["memory", "redis"])
async def limiter(request: pytest.FixtureRequest) -> AsyncIterator[Limiter]:
    if request.param == "memory":
        yield ProcessLimiter()
        return
    server: Any = request.getfixturevalue("redis_server")
    made = open_limiter(HttpConfig(limits_store=Secret(server.url)))
    yield made
    await made.aclose()


@pytest.mark.anyio
async def test_a_key_gets_its_requests_a_minute_and_no_more(limiter: Limiter) -> None:
    bound = key(rpm=3)
    for _ in range(3):
        await enter(limiter, bound)
    error = await refused(limiter, bound)
    assert error.reason == "rate_limit_exceeded"
    assert error.headers["x-ratelimit-limit"] == "3"
    assert error.headers["x-ratelimit-remaining"] == "0"
    assert 1 <= int(error.headers["retry-after"]) <= 120
    assert error.headers["x-ratelimit-reset"] == error.headers["retry-after"]
    await enter(limiter, key(rpm=3, name="key:b"))


@pytest.mark.anyio
async def test_a_key_over_its_limit_does_not_use_up_its_organizations(limiter: Limiter) -> None:
    one, other, both = key(rpm=1), key(rpm=9, name="key:b"), org(rpm=3)
    await enter(limiter, one, both)
    for _ in range(5):
        await refused(limiter, one, both)
    for _ in range(2):
        await enter(limiter, other, both)
    error = await refused(limiter, other, both)
    assert error.headers["x-ratelimit-limit"] == "3"


@pytest.mark.anyio
async def test_requests_under_way_are_bounded_and_make_room_when_they_end(limiter: Limiter) -> None:
    acme = org(concurrency=3)
    bounds = [key(concurrency=2), acme]
    others = [key(concurrency=2, name="key:b"), acme]
    first = await enter(limiter, *bounds)
    await enter(limiter, *bounds)
    error = await refused(limiter, *bounds)
    assert (error.reason, error.headers["retry-after"]) == ("rate_limit_exceeded", "1")
    other = await enter(limiter, *others)
    await refused(limiter, *others)
    await leave(first)
    again = await enter(limiter, *bounds)
    for entry in (other, again):
        await leave(entry)


@pytest.mark.anyio
async def test_a_refused_request_holds_no_slot(limiter: Limiter) -> None:
    acme = org(concurrency=1)
    bounds = [key(rpm=1, concurrency=5), acme]
    await leave(await enter(limiter, *bounds))
    for _ in range(5):
        await refused(limiter, *bounds)
    await enter(limiter, acme)


@pytest.mark.anyio
async def test_several_gateways_count_together(redis_server: Any) -> None:
    url = Secret(redis_server.url.replace("redis://", "valkey://"))
    one, two = (SharedLimiter(shared_store(url, lease_s=60)) for _ in range(2))
    bounds = [key(rpm=4, concurrency=2)]
    entries = [await enter(one, *bounds), await enter(two, *bounds)]
    await refused(one, *bounds)
    for entry in entries:
        await leave(entry)
    for limiter in (one, two):
        await leave(await enter(limiter, *bounds))
    error = await refused(two, *bounds)
    assert error.headers["x-ratelimit-limit"] == "4"
    await one.aclose()
    await two.aclose()


@pytest.mark.anyio
async def test_a_gateway_that_dies_does_not_keep_its_slots(redis_server: Any) -> None:
    limiter = SharedLimiter(shared_store(Secret(redis_server.url), lease_s=0.2))
    await enter(limiter, key(concurrency=1))
    await refused(limiter, key(concurrency=1))
    async with asyncio.timeout(20):
        while True:
            try:
                await enter(limiter, key(concurrency=1))
                break
            except RelayRefused:
                continue
    await limiter.aclose()


@pytest.mark.anyio
@pytest.mark.parametrize("steps", range(40))
async def test_a_request_given_up_as_it_comes_or_goes_ends_there_and_holds_nothing(
    redis_server: Any, steps: int
) -> None:
    """The client of the store loses a cancellation in some of these steps on Python 3.11."""
    limiter = SharedLimiter(shared_store(Secret(redis_server.url), lease_s=60))
    stay = asyncio.Event()
    bounds = (key(rpm=1000, concurrency=1), org(concurrency=1))

    async def call(until: asyncio.Event) -> None:
        async with limiter.admit(bounds):
            await until.wait()

    for ready in (False, True):
        if ready:
            stay.set()
        request = asyncio.create_task(call(stay))
        for _ in range(steps):
            await asyncio.sleep(0)
        request.cancel()
        async with asyncio.timeout(20):
            await asyncio.wait([request])
    await limiter.aclose()
    async with Redis.from_url(redis_server.url) as client:
        assert [name async for name in client.scan_iter("*slots*")] == []


@pytest.mark.anyio
async def test_without_its_store_a_gateway_goes_on_with_limits_of_its_own_and_says_so_once(
    redis_server: Any, caplog: pytest.LogCaptureFixture
) -> None:
    bound = key(rpm=3, concurrency=5)
    limiter = open_limiter(HttpConfig(limits_store=Secret(redis_server.url)))
    await leave(await enter(limiter, bound))
    redis_server.stop()
    for _ in range(2):
        await leave(await enter(limiter, bound))
    await refused(limiter, bound)
    said = [record.getMessage() for record in caplog.records]
    assert said == ["the limits store is down (ConnectionError): counting limits in this process"]
    await limiter.aclose()


@pytest.mark.anyio
async def test_a_slot_is_kept_for_as_long_as_the_longest_call_may_take(
    redis_server: Any, caplog: pytest.LogCaptureFixture
) -> None:
    config = HttpConfig(limits_store=Secret(redis_server.url), timeout_s=1.2345)
    limiter = open_limiter(config, longest_call_s=600.5)
    await enter(limiter, key(concurrency=1))
    async with Redis.from_url(redis_server.url) as client:
        (slots,) = [name async for name in client.scan_iter("*slots*")]
        ((_, ends),) = await client.zrange(slots, 0, -1, withscores=True)
        now, _ = await client.time()
    assert ends - now >= 600
    await refused(limiter, key(concurrency=1))
    assert caplog.records == []
    await limiter.aclose()


@pytest.mark.anyio
async def test_a_store_that_comes_back_is_used_again(
    redis_server: Any, caplog: pytest.LogCaptureFixture
) -> None:
    limiter = SharedLimiter(shared_store(Secret(redis_server.url), lease_s=60), retry_s=0)
    redis_server.stop()
    await enter(limiter, key(rpm=2))
    redis_server.restart()
    await enter(limiter, key(rpm=2))
    await refused(limiter, key(rpm=2))
    assert "the limits store answers again" in caplog.text
    await limiter.aclose()


@pytest.mark.anyio
async def test_a_gateway_may_refuse_rather_than_count_alone(redis_server: Any) -> None:
    config = HttpConfig(limits_store=Secret(redis_server.url), limits_store_down="refuse")
    limiter = open_limiter(config)
    redis_server.stop()
    for _ in range(2):
        error = await refused(limiter, key(rpm=100))
        assert error.reason == "limits_unavailable"
        assert error.headers["retry-after"] == "5"
    await enter(limiter)
    await limiter.aclose()


@pytest.mark.anyio
async def test_many_requests_at_once_are_all_counted(limiter: Limiter) -> None:
    bound = key(rpm=50)

    async def one() -> bool:
        try:
            await enter(limiter, bound)
        except RelayRefused:
            return False
        return True

    async with asyncio.timeout(30):
        admitted = await asyncio.gather(*(one() for _ in range(120)))
    assert sum(admitted) == 50


def test_the_url_of_the_store_is_never_shown(redis_server: Any) -> None:
    url = redis_server.url.replace("redis://", "redis://user:pass-word@")
    store = shared_store(Secret(url), lease_s=60)
    assert "pass-word" not in repr(store)
    assert "pass-word" not in repr(SharedLimiter(store))


@pytest.mark.parametrize("url", ["http://h.example", "memory:/x", "sk-secret"])
def test_a_store_of_another_kind_is_a_fault_that_names_the_field(url: str) -> None:
    with pytest.raises(ConfigError, match=r"http\.limits_store") as caught:
        open_limiter(HttpConfig(limits_store=Secret(url)))
    assert url not in str(caught.value)


def test_without_the_client_library_the_way_out_is_told() -> None:
    script = """if True:
        import sys
        sys.modules["redis"] = None
        from gateway_core.config.model import HttpConfig
        from gateway_core.door.limits.limiter import open_limiter
        from gateway_core.secret import Secret
        open_limiter(HttpConfig(limits_store=Secret("memory://")))
        try:
            open_limiter(HttpConfig(limits_store=Secret("redis://127.0.0.1:1")))
        except Exception as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "http.limits_store: needs pip install 's1gw[valkey]'"
