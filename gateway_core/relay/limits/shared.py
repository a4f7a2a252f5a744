"""Limits counted in Redis or Valkey, for several gateways together."""

import secrets
from typing import Any, Final

from limits.aio.storage import RedisStorage
from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import RedisError

from gateway_core.relay.limits.store import Store
from gateway_core.secret import Secret

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

    def __init__(self, client: Redis, lease_s: float) -> None:
        self._client = client
        self._lease_s = lease_s
        self._take = client.register_script(_TAKE)

    async def take(self, name: str, most: int) -> str | None:
        """Take one of ``most`` slots, unless all are taken."""
        slot = secrets.token_hex(8)
        taken = await self._take(keys=[_key(name)], args=[most, slot, self._lease_s])
        return slot if taken else None

    async def give_back(self, name: str, slot: str) -> None:
        """Free a slot."""
        await self._client.zrem(_key(name), slot)

    async def aclose(self) -> None:
        """Close the connections, those of the rates as well."""
        await self._client.aclose()


def shared_store(url: Secret, lease_s: float) -> Store:
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
    slots = SharedSlots(Redis.from_pool(pool), lease_s)
    return Store(windows, slots, (RedisError, OSError))


def _key(name: str) -> str:
    return f"{_PREFIX}:slots:{name}"
