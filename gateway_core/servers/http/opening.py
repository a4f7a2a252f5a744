"""When the port is open: told once the server, or one of its workers, listens."""

import socket
import threading
from collections.abc import Callable
from typing import Final

import uvicorn

_LOOK_S: Final = 0.02


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
