"""A shared store of limits whose connections are cut, that goes down, or that starts anew."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from redis.asyncio import Redis

from gateway_core.door.limits.counting import Bound
from gateway_core.door.limits.joint import SharedAdmission, SharedLimiter
from gateway_core.door.limits.shared import shared_store
from gateway_core.errors import RelayRefused
from gateway_core.secret import Secret

pytestmark = pytest.mark.anyio


def key(rpm: int | None = None, concurrency: int | None = None) -> Bound:
    return Bound(name="key:a", rpm=rpm, concurrency=concurrency)


@asynccontextmanager
async def gateway(url: str, **options: Any) -> AsyncIterator[SharedLimiter]:
    limiter = SharedLimiter(shared_store(Secret(url), lease_s=60), **options)
    yield limiter
    await limiter.aclose()


async def enter(limiter: SharedLimiter, bound: Bound) -> SharedAdmission:
    admission = limiter.admit((bound,))
    await admission.__aenter__()
    return admission


async def leave(admission: SharedAdmission) -> None:
    await admission.__aexit__(None, None, None)


async def refused(limiter: SharedLimiter, bound: Bound) -> str:
    with pytest.raises(RelayRefused) as caught:
        await enter(limiter, bound)
    return caught.value.reason


async def slots(url: str) -> int:
    async with Redis.from_url(url) as client:
        return int(await client.zcard("s1gw:slots:key:a"))


class Relayed:
    """A way to the store that forgets its connections without a word, as a NAT does."""

    def __init__(self, url: str) -> None:
        self._port = int(url.rpartition(":")[2].partition("/")[0])
        self._silent: set[asyncio.StreamWriter] = set()
        self._open: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server

    async def __aenter__(self) -> "Relayed":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"redis://127.0.0.1:{port}/0"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in self._open:
            writer.close()

    def forget(self) -> None:
        self._silent |= self._open

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        self._open |= {writer, back}
        await asyncio.gather(self._copy(reader, back), self._copy(there, writer))

    async def _copy(self, source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            if to not in self._silent:
                to.write(data)
        to.close()


@pytest.mark.parametrize("refuse", [True, False])
async def test_a_store_that_cut_its_idle_connections_is_not_down(
    redis_server: Any, caplog: pytest.LogCaptureFixture, refuse: bool
) -> None:
    bound = key(rpm=1000, concurrency=50)
    async with gateway(redis_server.url, refuse_when_down=refuse) as limiter:
        for _ in range(3):
            many = await asyncio.gather(*(enter(limiter, bound) for _ in range(30)))
            for admission in many:
                await leave(admission)
            async with Redis.from_url(redis_server.url) as client:
                assert await client.client_kill_filter(_type="normal", skipme=True)
    assert caplog.records == []


async def test_a_connection_that_was_forgotten_without_a_word_is_no_outage(
    redis_server: Any, caplog: pytest.LogCaptureFixture
) -> None:
    bound = key(rpm=1000, concurrency=50)
    async with Relayed(redis_server.url) as way, gateway(way.url, refuse_when_down=True) as limiter:
        many = await asyncio.gather(*(enter(limiter, bound) for _ in range(10)))
        way.forget()
        for admission in many:
            await leave(admission)
        await asyncio.gather(*(enter(limiter, bound) for _ in range(10)))
    assert caplog.records == []


async def test_a_store_that_starts_anew_is_told_what_is_under_way(redis_server: Any) -> None:
    bound = key(rpm=3, concurrency=2)
    async with gateway(redis_server.url) as limiter:
        held = [await enter(limiter, bound) for _ in range(2)]
        redis_server.stop()
        redis_server.restart()
        assert await refused(limiter, bound) == "rate_limit_exceeded"
        assert await slots(redis_server.url) == 2
        for admission in held:
            await leave(admission)
        assert await slots(redis_server.url) == 0
        await leave(await enter(limiter, bound))
        assert await refused(limiter, bound) == "rate_limit_exceeded"


async def test_two_gateways_tell_a_store_that_starts_anew_of_both_their_requests(
    redis_server: Any,
) -> None:
    bounds = key(rpm=4, concurrency=9), key(rpm=4, concurrency=9)
    async with gateway(redis_server.url) as one, gateway(redis_server.url) as two:
        for limiter, bound in zip((one, two), bounds, strict=True):
            await enter(limiter, bound)
        redis_server.stop()
        redis_server.restart()
        for limiter, bound in zip((one, two), bounds, strict=True):
            await enter(limiter, bound)
        for limiter, bound in zip((one, two), bounds, strict=True):
            assert await refused(limiter, bound) == "rate_limit_exceeded"
        assert await slots(redis_server.url) == 4


async def test_what_the_store_let_in_counts_when_the_gateway_counts_alone(
    redis_server: Any,
) -> None:
    bound = key(rpm=3, concurrency=2)
    async with gateway(redis_server.url) as limiter:
        held = [await enter(limiter, bound) for _ in range(2)]
        redis_server.stop()
        assert await refused(limiter, bound) == "rate_limit_exceeded"
        for admission in held:
            await leave(admission)
        await leave(await enter(limiter, bound))
        assert await refused(limiter, bound) == "rate_limit_exceeded"


async def test_what_a_gateway_let_in_alone_counts_when_the_store_is_back(
    redis_server: Any,
) -> None:
    bound = key(rpm=4, concurrency=2)
    async with gateway(redis_server.url, retry_s=0) as one, gateway(redis_server.url) as two:
        redis_server.stop()
        alone = await enter(one, bound)
        redis_server.restart()
        second = await enter(one, bound)
        assert await refused(two, key(rpm=4, concurrency=2)) == "rate_limit_exceeded"
        for admission in (alone, second):
            await leave(admission)
        assert await slots(redis_server.url) == 0
        for _ in range(2):
            await leave(await enter(two, key(rpm=4, concurrency=2)))
        assert await refused(two, key(rpm=4, concurrency=2)) == "rate_limit_exceeded"


async def test_a_slot_given_up_while_the_store_is_away_is_free_once_it_is_back(
    redis_server: Any,
) -> None:
    bound = key(concurrency=2)
    async with Relayed(redis_server.url) as way, gateway(way.url, retry_s=0) as limiter:
        held = [await enter(limiter, bound) for _ in range(2)]
        async with Redis.from_url(redis_server.url) as client:
            await client.client_kill_filter(_type="normal", skipme=True)
            await client.client_pause(2500)
            for admission in held:
                await leave(admission)
            await client.client_unpause()
        await leave(await enter(limiter, bound))
        assert await slots(redis_server.url) == 0


async def test_a_command_that_is_asked_again_takes_no_second_slot(redis_server: Any) -> None:
    store = shared_store(Secret(redis_server.url), lease_s=60)
    bound = key(concurrency=1)
    for _ in range(2):
        await store.enter((bound,), [("key:a", "same")])
    assert await slots(redis_server.url) == 1
    with pytest.raises(RelayRefused):
        await store.enter((bound,), [("key:a", "another")])
    assert await slots(redis_server.url) == 1
    await store.aclose()
