"""How many clients may be connected: in all, and from one address."""

import asyncio
import logging
import resource
from collections import Counter
from time import monotonic
from typing import Final

from gateway_core.http1.messages import HttpReply
from gateway_core.servers.http.reply import refusal_reply, write_reply

_log: Final = logging.getLogger("s1gw.http")
_RESERVE: Final = 32
"""Descriptors that a process needs for itself: its files, its logs, the modules it imports."""
_FEWEST: Final = 4
_MOST: Final = 100_000
_SAY_AGAIN_S: Final = 10.0


def raise_descriptor_limit() -> None:
    """Have as many descriptors as the system allows; the usual soft limit is for ``select``."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard not in (soft, resource.RLIM_INFINITY):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def usual_limit() -> int:
    """Return how many clients fit: each needs a descriptor, and one more for its upstream."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return _MOST
    return min(max((soft - _RESERVE) // 2, _FEWEST), _MOST)


class Crowd:
    """The clients that are connected to one process.

    A client beyond the limit is told so, and let go: without a limit the process would run out of
    descriptors, and fail the clients that it has.
    """

    def __init__(self, most: int | None = None, most_per_address: int | None = None) -> None:
        """Take the limits.

        Args:
            most: the most clients; by default what the limit of descriptors allows.
            most_per_address: the most from one address; by default three quarters of ``most``, so
                that no address keeps out all others.
        """
        self._most = most or usual_limit()
        self._per_address = min(most_per_address or max(self._most * 3 // 4, 1), self._most)
        self._addresses: dict[object, str] = {}
        self._counts: Counter[str] = Counter()
        self._said = -_SAY_AGAIN_S
        self._refused = 0

    def admit(self, client: object, transport: asyncio.Transport) -> bool:
        """Count a client in, or refuse it and close its connection."""
        peer = transport.get_extra_info("peername")
        address = str(peer[0]) if peer else ""
        if len(self._addresses) >= self._most:
            self._refuse(transport, f"http.max_connections = {self._most}")
        # The clients of a Unix socket have no address.
        elif address and self._counts[address] >= self._per_address:
            setting = f"http.max_connections_per_address = {self._per_address}"
            self._refuse(transport, setting)
        else:
            self._addresses[client] = address
            self._counts[address] += 1
            return True
        return False

    def leave(self, client: object) -> bool:
        """Count a client out; say whether it was ever in."""
        address = self._addresses.pop(client, None)
        if address is None:
            return False
        self._counts[address] -= 1
        if not self._counts[address]:
            del self._counts[address]
        return True

    def _refuse(self, transport: asyncio.Transport, setting: str) -> None:
        self._refused += 1
        if monotonic() - self._said >= _SAY_AGAIN_S:
            _log.warning(
                "too many connections: %d refused; %d are open (%s)",
                self._refused,
                len(self._addresses),
                setting,
            )
            self._said, self._refused = monotonic(), 0
        transport.pause_reading()
        write_reply(_too_many(), transport)
        transport.close()


def _too_many() -> HttpReply:
    message = "the gateway has too many connections"
    return refusal_reply(503, "provider_overloaded", message, {"retry-after": "1"})
