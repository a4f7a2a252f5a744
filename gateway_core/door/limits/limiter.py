"""Whether a request may run now, by the limits of its key and its organization."""

import asyncio
import logging
import time
from contextlib import AbstractAsyncContextManager, suppress
from math import ceil
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from gateway_core.config.model import HttpConfig
from gateway_core.door.limits.counting import Bounds
from gateway_core.door.limits.memory import ProcessLimiter
from gateway_core.door.limits.uncancelled import Uncancelled
from gateway_core.errors import ConfigError, RelayRefused

if TYPE_CHECKING:
    from gateway_core.door.limits.shared import SharedStore, Slots

_log: Final = logging.getLogger("s1gw.limits")
RETRY_S: Final = 5.0
_SCHEMES: Final = ("redis://", "rediss://", "valkey://", "valkeys://")
_LEASE_S: Final = 120.0
"""How long a slot outlives the time that its call may take, in seconds."""


class Limiter(Protocol):
    """Counts requests under their bounds."""

    def admit(self, bounds: Bounds) -> AbstractAsyncContextManager[None]:
        """Return a block that counts a request while it runs; the first bound has its say first.

        A request that is refused holds nothing, and counts for no bound after the one that
        refused it, so that a key over its own limit does not use up its organization's.

        Entering the block raises ``RelayRefused``: ``rate_limit_exceeded``, with ``retry-after``
        and ``x-ratelimit-*``, or ``limits_unavailable``.
        """
        ...

    async def aclose(self) -> None:
        """Close connections, if there are any."""
        ...


class SharedLimiter:
    """Counts requests in a shared store while it answers, else in this process."""

    def __init__(
        self, store: "SharedStore", *, refuse_when_down: bool = False, retry_s: float = RETRY_S
    ) -> None:
        """Count in ``store``.

        Args:
            store: where to count.
            refuse_when_down: refuse every request with a limit while the store is down, rather
                than count in this process.
            retry_s: how long a store that failed is left alone, in seconds.
        """
        self._local = ProcessLimiter()
        self._store = store
        self._refuse_when_down = refuse_when_down
        self._retry_s = retry_s
        self._down_until = 0.0
        self._uncancelled = Uncancelled()

    def admit(self, bounds: Bounds) -> "SharedAdmission":
        """Return a block that counts a request; see ``Limiter``."""
        return SharedAdmission(self, bounds)

    async def enter(self, bounds: Bounds) -> "Slots | None":
        """Let a request in; return what it holds in the store, None if it is counted here."""
        if not bounds:
            return []
        if self._down_until and time.monotonic() < self._down_until:
            self._enter_here(bounds)
            return None
        try:
            held = await self._uncancelled.run(self._store.enter(bounds), self._undo)
        except self._store.failures as error:
            self._note_failure(error)
            self._enter_here(bounds)
            return None
        if self._down_until:
            self._down_until = 0.0
            _log.warning("the limits store answers again")
        return held

    async def leave(self, bounds: Bounds, held: "Slots | None") -> None:
        """Free what a request held."""
        if held is None:
            self._local.leave(bounds)
        else:
            await self._uncancelled.run(self._store.leave(held))

    async def aclose(self) -> None:
        """Close the store's connections, once what is under way there has ended."""
        await self._uncancelled.ended()
        await self._store.aclose()

    async def _undo(self, entering: "asyncio.Task[Slots]") -> None:
        """Free what a request got that was given up while it was let in."""
        with suppress(RelayRefused, *self._store.failures):
            await self._store.leave(await entering)

    def _enter_here(self, bounds: Bounds) -> None:
        if self._refuse_when_down:
            raise RelayRefused(
                "limits_unavailable",
                "the store of the rate limits does not answer",
                headers={"retry-after": str(ceil(self._retry_s))},
            )
        self._local.enter(bounds)

    def _note_failure(self, error: Exception) -> None:
        if not self._down_until:
            course = "refusing" if self._refuse_when_down else "counting limits in this process"
            _log.warning("the limits store is down (%s): %s", type(error).__name__, course)
        self._down_until = time.monotonic() + self._retry_s


class SharedAdmission(msgspec.Struct, gc=False):
    """A request that counts while the block runs."""

    limiter: SharedLimiter
    bounds: Bounds
    held: "Slots | None" = None

    async def __aenter__(self) -> None:
        """Enter."""
        self.held = await self.limiter.enter(self.bounds)

    async def __aexit__(self, *_: object) -> None:
        """Leave."""
        await self.limiter.leave(self.bounds, self.held)


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
        return ProcessLimiter()
    if not url.reveal().startswith(_SCHEMES):
        raise ConfigError(f"http.limits_store: must begin with memory:// or {_SCHEMES[0]}")
    try:
        # The client library is an extra, and only a shared store needs it.
        from gateway_core.door.limits.shared import shared_store
    except ImportError:
        raise ConfigError("http.limits_store: needs pip install 's1gw[valkey]'") from None
    store = shared_store(url, ceil(max(config.timeout_s, longest_call_s) + _LEASE_S))
    return SharedLimiter(store, refuse_when_down=config.limits_store_down == "refuse")
