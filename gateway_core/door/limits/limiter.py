"""Whether a request may run now, by the limits of its key and its organization."""

from contextlib import AbstractAsyncContextManager
from math import ceil
from typing import Final, Protocol

from gateway_core.config.model import HttpConfig
from gateway_core.door.limits.counting import Bounds
from gateway_core.door.limits.memory import ProcessLimiter
from gateway_core.errors import ConfigError

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

    @property
    def refuses(self) -> bool:
        """Whether every request with a limit is refused now, as far as is known; never waits."""
        ...

    async def aclose(self) -> None:
        """Close connections, if there are any."""
        ...


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
        from gateway_core.door.limits.joint import SharedLimiter
        from gateway_core.door.limits.shared import shared_store
    except ImportError:
        raise ConfigError("http.limits_store: needs pip install 's1gw[valkey]'") from None
    store = shared_store(url, ceil(max(config.timeout_s, longest_call_s) + _LEASE_S))
    return SharedLimiter(store, refuse_when_down=config.limits_store_down == "refuse")
