"""A socket that has its port, and takes connections only once there is somebody to answer them.

A start that fails then never had its port open: no client got a connection that nobody answers,
and no load balancer took it for ready.
"""

import socket
import threading
from collections.abc import Callable
from typing import Any, Final

import uvicorn

_LOOK_S: Final = 0.02


def reserve(family: int, address: tuple[Any, ...]) -> socket.socket:
    """Return a socket that is bound and does not listen yet; raise ``OSError`` if it cannot be."""
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        found.bind(address)
    except OSError:
        found.close()
        raise
    return found


class Server(uvicorn.Server):
    """uvicorn's server, which tells when it listens."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        """Take what is called then."""
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open the services, then the port."""
        await super().startup(sockets)
        self._listening()


def when_listening(listener: socket.socket, call: Callable[[], None]) -> None:
    """Call ``call``, from a thread, once a worker process listens on ``listener``."""
    threading.Thread(target=_watch, args=(listener, call), daemon=True).start()


def _watch(listener: socket.socket, call: Callable[[], None]) -> None:
    pause = threading.Event()
    try:
        while not listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            pause.wait(_LOOK_S)
    except OSError:
        # It is closed: no worker could start.
        return
    call()
