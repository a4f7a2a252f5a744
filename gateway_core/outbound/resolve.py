"""Names to addresses, one lookup at a time for each name."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from gateway_core.causes import Cause
from gateway_core.errors import DestinationUnusable

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Takes host and port, returns addresses in order of preference; raises ``OSError``."""

# The loops' own lookups share a handful of threads, which a few customers' names that hang
# would take from everyone.
_THREADS: Final = ThreadPoolExecutor(max_workers=32, thread_name_prefix="s1gw-lookup")
_UNRESOLVED: Final = "the URL's host cannot be resolved"


async def system_resolve(host: str, port: int) -> Sequence[str]:
    """Ask the system's resolver."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, _look_up, host, port)


def _look_up(host: str, port: int) -> Sequence[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


class Resolver:
    """Shares lookups that are under way: a name that hangs holds up one thread, not all."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._under_way: dict[tuple[str, int], asyncio.Future[Sequence[str]]] = {}

    async def addresses(self, host: str, port: int) -> Sequence[str]:
        """Return the addresses of ``host`` now, in order of preference.

        Raises:
            DestinationUnusable: there are none, or the lookup failed.
        """
        lookup = self._under_way.get((host, port))
        if lookup is None:
            lookup = asyncio.ensure_future(self._look_up(host, port))
            self._under_way[host, port] = lookup
        # One caller's cancellation must not end the lookup that others wait for.
        found = await asyncio.shield(lookup)
        if not found:
            raise DestinationUnusable(_UNRESOLVED, cause=Cause.DNS)
        return found

    async def _look_up(self, host: str, port: int) -> Sequence[str]:
        try:
            return await self._resolve(host, port)
        except (OSError, UnicodeError):
            return ()
        finally:
            del self._under_way[host, port]
