"""Whether a request may run now, by the limits of its key and its organization."""

import logging
import time
from collections.abc import Sequence
from math import ceil
from typing import Final

from gateway_core.config.model import HttpConfig
from gateway_core.errors import ConfigError, RelayRefused
from gateway_core.relay.limits.counting import Bound
from gateway_core.relay.limits.memory import ProcessStore
from gateway_core.relay.limits.store import Entry, Store

_log: Final = logging.getLogger("s1gw.limits")
RETRY_S: Final = 5.0
_SCHEMES: Final = ("redis://", "rediss://", "valkey://", "valkeys://")
_LEASE_S: Final = 120.0
"""How long a slot outlives the time that its call may take, in seconds."""


class Limiter:
    """Counts requests, in a shared store when there is one and it answers, else in this process."""

    def __init__(
        self,
        store: Store | None = None,
        *,
        refuse_when_down: bool = False,
        retry_s: float = RETRY_S,
    ) -> None:
        """Count in ``store``, by default in this process.

        Args:
            store: where to count.
            refuse_when_down: refuse every request with a limit while the store is down, rather
                than count in this process.
            retry_s: how long a store that failed is left alone, in seconds.
        """
        self._local: Store = ProcessStore()
        self._store = store or self._local
        self._refuse_when_down = refuse_when_down
        self._retry_s = retry_s
        self._down_until = 0.0

    async def enter(self, bounds: Sequence[Bound]) -> Entry:
        """Let a request in under every one of ``bounds``; see ``Store``.

        Raises:
            RelayRefused: ``rate_limit_exceeded``, with ``retry-after`` and ``x-ratelimit-*``,
                or ``limits_unavailable``.
        """
        if self._down_until and time.monotonic() < self._down_until:
            return await self._without_store(bounds)
        try:
            entry = await self._store.enter(bounds)
        except self._store.failures as error:
            self._note_failure(error)
            return await self._without_store(bounds)
        if self._down_until and bounds:
            self._down_until = 0.0
            _log.warning("the limits store answers again")
        return entry

    async def leave(self, entry: Entry) -> None:
        """Free what a request held."""
        await entry.store.leave(entry)

    async def aclose(self) -> None:
        """Close the store's connections."""
        await self._store.aclose()

    async def _without_store(self, bounds: Sequence[Bound]) -> Entry:
        if self._refuse_when_down and bounds:
            raise RelayRefused(
                "limits_unavailable",
                "the store of the rate limits does not answer",
                headers={"retry-after": str(ceil(self._retry_s))},
            )
        return await self._local.enter(bounds)

    def _note_failure(self, error: Exception) -> None:
        if not self._down_until:
            course = "refusing" if self._refuse_when_down else "counting limits in this process"
            _log.warning("the limits store is down (%s): %s", type(error).__name__, course)
        self._down_until = time.monotonic() + self._retry_s


def open_limiter(config: HttpConfig, longest_call_s: float = 0.0) -> Limiter:
    """Return the limiter that ``[http]`` asks for; nothing is connected yet.

    Args:
        config: ``[http]``.
        longest_call_s: the longest that a call may take, if not the time of ``config``.

    Raises:
        ConfigError: ``limits_store`` is no URL of a store, or the client for it is missing.
    """
    url = config.limits_store
    if url is None or url.reveal() == "memory://":
        return Limiter()
    if not url.reveal().startswith(_SCHEMES):
        raise ConfigError(f"http.limits_store: must begin with memory:// or {_SCHEMES[0]}")
    try:
        # The client library is an extra, and only a shared store needs it.
        from gateway_core.relay.limits.shared import shared_store
    except ImportError:
        raise ConfigError("http.limits_store: needs pip install 's1gw[valkey]'") from None
    store = shared_store(url, ceil(max(config.timeout_s, longest_call_s) + _LEASE_S))
    return Limiter(store, refuse_when_down=config.limits_store_down == "refuse")
