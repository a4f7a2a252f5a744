"""What a process keeps when its configuration is replaced."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import attrs

from gateway_core.config.model import HttpConfig
from gateway_core.door.limits.counting import Bound
from gateway_core.door.limits.limiter import Limiter, open_limiter
from gateway_core.secret import Secret
from gateway_core.servers.http.life import Life

_Key = tuple[Secret | None, str, float, float]


@attrs.define(eq=False)
class _Counting:
    limiter: Limiter
    users: int = 0


class Kept:
    """What one configuration hands on to the next.

    Attributes:
        life: how far the process is in its life.
        bounds: what has been counted under each limit, by name.
    """

    def __init__(self, life: Life | None = None) -> None:
        """Begin with nothing counted."""
        self.life: Final = life or Life()
        self.bounds: Final[dict[str, Bound]] = {}
        self._limiters: dict[_Key, _Counting] = {}

    @asynccontextmanager
    async def limiter(self, http: HttpConfig, longest_call_s: float) -> AsyncIterator[Limiter]:
        """Give the limiter that ``http`` asks for: the one in use, if that is the same.

        It is closed when the last configuration that uses it ends.

        Raises:
            ConfigError: as ``open_limiter`` does.
        """
        key = (http.limits_store, http.limits_store_down, http.timeout_s, longest_call_s)
        found = self._limiters.get(key) or _Counting(open_limiter(http, longest_call_s))
        self._limiters[key] = found
        found.users += 1
        try:
            yield found.limiter
        finally:
            found.users -= 1
            if not found.users:
                del self._limiters[key]
                await found.limiter.aclose()
