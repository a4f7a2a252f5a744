"""Limits counted in Redis or Valkey, for several gateways together."""

import secrets
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

from limits import RateLimitItemPerMinute
from limits.aio.storage import RedisStorage
from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import RedisError

from gateway_core.door.limits.counting import MINUTE_S, Bounds, too_many, too_often
from gateway_core.secret import Secret

Slots = list[tuple[str, str]]
"""What a request holds: names of bounds, and what gives a slot of each back."""

_PREFIX: Final = "s1gw"
_ANSWER_S: Final = 0.5
"""A store that takes longer is as good as down: every request waits for it."""

_CONNECTIONS: Final = 32

_TAKE: Final = """
local now = redis.call('TIME')
local seconds = tonumber(now[1]) + tonumber(now[2]) / 1000000
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', seconds)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], seconds + tonumber(ARGV[3]), ARGV[2])
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[3]) * 1000)
return 1
"""


class SharedSlots:
    """Requests under way in all gateways.

    Every slot is a lease that runs out, so that a gateway that dies does not keep its slots.
    """

    def __init__(self, client: Redis, lease_s: int) -> None:
        self._client = client
        self._lease_s = lease_s
        self._take = client.register_script(_TAKE)

    async def take(self, name: str, slot: str, most: int) -> bool:
        """Take one of ``most`` slots under the name ``slot``; return False when all are taken."""
        taken = await self._take(keys=[_key(name)], args=[most, slot, self._lease_s])
        return bool(taken)

    async def give_back(self, name: str, slot: str) -> None:
        """Free a slot."""
        await self._client.zrem(_key(name), slot)

    async def aclose(self) -> None:
        """Close the connections, those of the rates as well."""
        await self._client.aclose()


class SharedStore:
    """Requests a minute, and requests under way, of all gateways on one store.

    Attributes:
        failures: what is raised when the store does not answer.
    """

    failures: Final[tuple[type[Exception], ...]] = (RedisError, OSError)

    def __init__(self, windows: RedisStorage, slots: SharedSlots) -> None:
        """Count rates in ``windows``, as the library does, and requests under way in ``slots``."""
        self._windows = windows
        self._slots = slots

    async def enter(self, bounds: Bounds) -> Slots:
        """Let a request in, and return what it holds; see ``Limiter``.

        Raises:
            RelayRefused: ``rate_limit_exceeded``.
        """
        held: Slots = []
        try:
            for bound in bounds:
                if bound.concurrency is not None:
                    # An answer that is lost, or late, may be to a slot that was taken.
                    held.append((bound.name, secrets.token_hex(8)))
                    if not await self._slots.take(*held[-1], bound.concurrency):
                        raise too_many(bound.concurrency)
            for bound in bounds:
                if bound.rpm is not None:
                    await self._count(bound.name, bound.rpm)
        except BaseException:
            await self.leave(held)
            raise
        return held

    async def _count(self, name: str, most: int) -> None:
        window = _window(name, most)
        if not await self._windows.acquire_sliding_window_entry(window, most, MINUTE_S):
            seen = await self._windows.get_sliding_window(window, MINUTE_S)
            previous, _, current, current_s = seen
            raise too_often(most, previous, current, current_s % MINUTE_S)

    async def leave(self, held: Slots) -> None:
        """Free what a request held."""
        # A store that is down forgets the slots by itself when their leases run out.
        with suppress(*self.failures):
            for name, slot in held:
                await self._slots.give_back(name, slot)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._slots.aclose()


def shared_store(url: Secret, lease_s: int) -> SharedStore:
    """Return a store at a ``redis://`` or ``valkey://`` URL (``rediss``, ``valkeys`` for TLS).

    Nothing is connected yet. A slot is freed after ``lease_s`` seconds at the latest.
    """
    address = url.reveal().replace("valkey", "redis", 1)
    pool: Any = BlockingConnectionPool.from_url(
        address,
        max_connections=_CONNECTIONS,
        timeout=_ANSWER_S,
        socket_timeout=_ANSWER_S,
        socket_connect_timeout=_ANSWER_S,
    )
    windows = RedisStorage(
        f"async+{address}", implementation="redispy", key_prefix=_PREFIX, connection_pool=pool
    )
    return SharedStore(windows, SharedSlots(Redis.from_pool(pool), lease_s))


def _key(name: str) -> str:
    return f"{_PREFIX}:slots:{name}"


@lru_cache(maxsize=4096)
def _window(name: str, most: int) -> str:
    return RateLimitItemPerMinute(most).key_for(name)
