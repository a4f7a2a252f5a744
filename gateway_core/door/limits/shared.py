"""Limits counted in Redis or Valkey, for several gateways together."""

from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import lru_cache
from typing import Any, Final

import attrs
from limits import RateLimitItemPerMinute
from limits.aio.storage import RedisStorage
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as Unanswered

from gateway_core.door.limits.counting import MINUTE_S, Bounds, too_many, too_often
from gateway_core.door.limits.epoch import Epoch, StoreForgot
from gateway_core.door.limits.ledger import Ledger, Slots
from gateway_core.secret import Secret

_PREFIX: Final = "s1gw"
_ANSWER_S: Final = 0.5
"""A store that takes longer is as good as down: every request waits for it."""

_CONNECTIONS: Final = 32
_SLOTS_AT_ONCE: Final = 1000

# Asked again after an answer that was lost, it finds the slot that it took.
_TAKE: Final = """
local now = redis.call('TIME')
local seconds = tonumber(now[1]) + tonumber(now[2]) / 1000000
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', seconds)
if not redis.call('ZSCORE', KEYS[1], ARGV[2]) then
    if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
end
redis.call('ZADD', KEYS[1], seconds + tonumber(ARGV[3]), ARGV[2])
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[3]) * 1000)
return 1
"""
_HOLD: Final = """
local now = redis.call('TIME')
local ends = tonumber(now[1]) + tonumber(now[2]) / 1000000 + tonumber(ARGV[1])
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], ends, ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[1]) * 1000)
"""


class SharedSlots:
    """Requests under way in all gateways.

    Every slot is a lease that runs out, so that a gateway that dies does not keep its slots.
    """

    def __init__(self, client: Redis, lease_s: float) -> None:
        self._client = client
        self._lease_s = lease_s
        self._take = client.register_script(_TAKE)
        self._hold = client.register_script(_HOLD)

    async def take(self, name: str, slot: str, most: int) -> bool:
        """Take one of ``most`` slots under the name ``slot``; return False when all are taken."""
        taken = await self._take(keys=[_key(name)], args=[most, slot, self._lease_s])
        return bool(taken)

    async def hold(self, slots: Slots) -> None:
        """Take slots whose requests are under way already, however many there are."""
        for name, group in _by_name(slots):
            await self._hold(keys=[_key(name)], args=[self._lease_s, *group])

    async def give_back(self, slots: Slots) -> None:
        """Free slots."""
        for name, group in _by_name(slots):
            await self._client.zrem(_key(name), *group)


class SharedRates:
    """Requests a minute in all gateways, counted as the library does."""

    def __init__(self, windows: RedisStorage) -> None:
        self._windows = windows

    async def count(self, name: str, most: int) -> None:
        """Count one more request.

        Raises:
            RelayRefused: ``rate_limit_exceeded``.
        """
        window = _window(name, most)
        if not await self._windows.acquire_sliding_window_entry(window, most, MINUTE_S):
            seen = await self._windows.get_sliding_window(window, MINUTE_S)
            previous, _, current, current_s = seen
            raise too_often(most, previous, current, current_s % MINUTE_S)

    async def add(self, name: str, most: int, number: int) -> None:
        """Count requests that were let in already, as far as there is room for them."""
        window = _window(name, most)
        seen = await self._windows.get_sliding_window(window, MINUTE_S)
        previous, previous_s, current, _ = seen
        room = most - current - int(previous * previous_s / MINUTE_S)
        if room > 0:
            await self._windows.acquire_sliding_window_entry(
                window, most, MINUTE_S, min(number, room)
            )


@attrs.frozen(eq=False)
class _Clients:
    """Connections to the store, and what is counted over them."""

    redis: Redis
    rates: SharedRates
    slots: SharedSlots


class SharedStore:
    """Requests a minute, and requests under way, of all gateways on one store.

    Attributes:
        failures: what is raised when the store does not answer.
        forgot: which of them says that it answers and has lost what it was told.
    """

    failures: Final[tuple[type[Exception], ...]] = (RedisError, OSError)
    forgot: Final = StoreForgot

    def __init__(self, url: Secret, lease_s: float) -> None:
        """Count in the store at ``url``; a slot is freed after ``lease_s`` seconds at the latest.

        Nothing is connected yet.
        """
        self._url = url
        self._lease_s = lease_s
        self._epoch = Epoch()
        self._clients = self._open(redis_connect_func=self._epoch.check)

    async def enter(self, bounds: Bounds, slots: Slots) -> None:
        """Let a request in that holds ``slots`` from then on; see ``Limiter``.

        Raises:
            RelayRefused: ``rate_limit_exceeded``; the request holds nothing.
        """
        most = {bound.name: bound.concurrency for bound in bounds}
        try:
            for name, slot in slots:
                concurrency = most[name] or 0
                if not await self._clients.slots.take(name, slot, concurrency):
                    raise too_many(concurrency)
            for bound in bounds:
                if bound.rpm is not None:
                    await self._clients.rates.count(bound.name, bound.rpm)
        except BaseException:
            # An answer that is lost, or late, may be to a slot that was taken.
            with suppress(*self.failures):
                await self.leave(slots)
            raise

    async def ping(self) -> None:
        """Have the store answer.

        Raises:
            RedisError, OSError: it does not, or has lost what it was told.
        """
        await self._clients.redis.ping()

    async def leave(self, slots: Slots) -> None:
        """Free what a request held."""
        await self._clients.slots.give_back(slots)

    async def restore(self, ledger: Ledger) -> None:
        """Tell the store what it does not know, and note in ``ledger`` what was told.

        The connections are new ones, which nobody else uses before the store is told.
        """
        async with self._plain() as store:
            forgotten = await self._epoch.read(store.redis)
            held, owed = list(ledger.held), list(ledger.owed)
            rates = ledger.rates(forgotten=forgotten)
            await store.slots.hold(held)
            await store.slots.give_back(owed)
            for bound, number in rates.items():
                if bound.rpm is not None:
                    await store.rates.add(bound.name, bound.rpm, number)
        ledger.restored(held, owed)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._clients.redis.aclose()

    @asynccontextmanager
    async def _plain(self) -> AsyncIterator[_Clients]:
        clients = self._open(max_connections=1)
        try:
            yield clients
        finally:
            await clients.redis.aclose()

    def _open(self, **options: Any) -> _Clients:
        address = self._url.reveal().replace("valkey", "redis", 1)
        pool: Any = BlockingConnectionPool.from_url(address, **_OPTIONS | options)
        windows = RedisStorage(
            f"async+{address}", implementation="redispy", key_prefix=_PREFIX, connection_pool=pool
        )
        redis = Redis.from_pool(pool)
        return _Clients(redis, SharedRates(windows), SharedSlots(redis, self._lease_s))


# A connection that was idle may have been cut, with a word or without: what was sent over it is
# sent once more over a new one before the store counts as down. With RESP3, redis-py would not
# look whether an idle connection still stands (it takes part in maintenance notifications).
_OPTIONS: Final[dict[str, Any]] = {
    "max_connections": _CONNECTIONS,
    "timeout": 3 * _ANSWER_S,
    "socket_timeout": _ANSWER_S,
    "socket_connect_timeout": _ANSWER_S,
    "socket_keepalive": True,
    "protocol": 2,
    "retry": Retry(NoBackoff(), 1, (Disconnected, Unanswered)),
}


def shared_store(url: Secret, lease_s: float) -> SharedStore:
    """Return a store at a ``redis://`` or ``valkey://`` URL (``rediss``, ``valkeys`` for TLS).

    Nothing is connected yet. A slot is freed after ``lease_s`` seconds at the latest.
    """
    return SharedStore(url, lease_s)


def _by_name(slots: Slots) -> list[tuple[str, list[str]]]:
    """Return the slots of each name, in groups that one command takes."""
    grouped = defaultdict(list)
    for name, slot in slots:
        grouped[name].append(slot)
    return [
        (name, group[start : start + _SLOTS_AT_ONCE])
        for name, group in grouped.items()
        for start in range(0, len(group), _SLOTS_AT_ONCE)
    ]


def _key(name: str) -> str:
    return f"{_PREFIX}:slots:{name}"


@lru_cache(maxsize=4096)
def _window(name: str, most: int) -> str:
    return RateLimitItemPerMinute(most).key_for(name)
