# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""The open connections of one process, kept by where they lead."""

import asyncio
import re
from collections.abc import Sequence
from time import monotonic
from typing import Final

from gateway_core.outbound.connection import Connection
from gateway_core.outbound.target import RouteKey

IDLE_S: Final = 15.0
_READ_BYTES: Final = 256 * 1024
_HINT: Final = re.compile(r"timeout\s*=\s*([0-9]{1,6})", re.IGNORECASE)
_HINT_MARGIN_S: Final = 1.0


class Pool:
    """Idle connections, last used first, in constant time whatever their number.

    An idle connection is kept for 15 s, or a second less than its ``keep-alive`` header says:
    less than the usual load balancers keep it (60 s and more), so that it is seldom the upstream
    that closes first, just as the next request is on its way.
    """

    def __init__(self, idle_s: float = IDLE_S) -> None:
        self.reading = memoryview(bytearray(_READ_BYTES))
        self._idle_s = idle_s
        # Dicts serve as ordered sets: oldest first, removal from anywhere in constant time.
        self._idle: dict[RouteKey, dict[Connection, None]] = {}
        self._open: set[Connection] = set()
        self._sweep: asyncio.TimerHandle | None = None
        self._emptied: asyncio.Future[None] | None = None

    def take(self, keys: Sequence[RouteKey]) -> Connection | None:
        """Return a live idle connection that leads to the first of ``keys`` that has one."""
        for key in keys:
            idle = self._idle.get(key)
            while idle:
                connection, _ = idle.popitem()
                if connection.idle_until > monotonic() and connection.alive():
                    return connection
                connection.abort()
        return None

    async def aclose(self) -> None:
        """Close every connection and wait until all are gone."""
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
        if self._open:
            self._emptied = asyncio.get_running_loop().create_future()
            for connection in tuple(self._open):
                connection.abort()
            await self._emptied

    def opened(self, connection: Connection) -> None:
        """Count a connection in, so that ``aclose`` closes it too."""
        self._open.add(connection)

    def freed(self, connection: Connection, keep_alive: str | None) -> None:
        """Keep a connection for the next request to the same place."""
        idle_s = self._idle_s if keep_alive is None else self._hinted(keep_alive)
        connection.idle_until = monotonic() + idle_s
        try:
            self._idle[connection.key][connection] = None
        except KeyError:
            self._idle[connection.key] = {connection: None}
        if self._sweep is None:
            self._sweep = asyncio.get_running_loop().call_later(self._idle_s / 3, self._expire)

    def lost(self, connection: Connection) -> None:
        """Forget a closed connection."""
        self._open.discard(connection)
        idle = self._idle.get(connection.key)
        if idle is not None:
            idle.pop(connection, None)
        if self._emptied is not None and not self._open and not self._emptied.done():
            self._emptied.set_result(None)

    def _hinted(self, keep_alive: str) -> float:
        found = _HINT.search(keep_alive)
        return min(self._idle_s, float(found[1]) - _HINT_MARGIN_S) if found else self._idle_s

    def _expire(self) -> None:
        now = monotonic()
        for key, idle in list(self._idle.items()):
            for connection in [each for each in idle if each.idle_until <= now]:
                del idle[connection]
                connection.abort()
            if not idle:
                del self._idle[key]
        loop = asyncio.get_running_loop()
        self._sweep = loop.call_later(self._idle_s / 3, self._expire) if self._idle else None
