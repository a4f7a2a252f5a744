"""A gateway of one process: it serves, and reads its configuration again by itself."""

import asyncio
import signal
import socket
from collections.abc import Sequence

from gateway_core.servers.http.checked import Checked, Options
from gateway_core.servers.http.listening import announce
from gateway_core.servers.http.notify import Notifier
from gateway_core.servers.http.reload import Reloads
from gateway_core.servers.http.server import Duties
from gateway_core.servers.http.serving import Serving
from gateway_core.servers.http.watching import watch


class Single:
    """The process that was started, which serves by itself."""

    def __init__(self, options: Options, checked: Checked, notifier: Notifier) -> None:
        """Prepare to serve what was checked."""
        self._serving = Serving(checked)
        self._notifier = notifier
        self._reloads = Reloads(options, checked, self)
        self._reloads.begun, self._reloads.done = notifier.reloading, notifier.ready
        self._listeners: list[socket.socket] = []
        self._watching: asyncio.Task[None] | None = None

    def run(self, listeners: list[socket.socket]) -> None:
        """Serve until told to end; raise ``SystemExit`` when the services cannot be opened."""
        self._listeners = listeners
        server = self._serving.server
        server.duties = Duties(
            signals={
                signal.SIGTERM: server.end,
                signal.SIGINT: server.interrupt,
                signal.SIGHUP: lambda: self._reloads.ask("SIGHUP"),
            },
            ready=self._ready,
            draining=self._draining,
            each_second=self._notifier.alive,
        )
        self._serving.run(listeners)

    async def replace(self, checked: Checked) -> None:
        """Serve ``checked`` from now on; see ``Served``."""
        self._serving.commit(await self._serving.prepare(checked))

    def note_faults(self, faults: Sequence[str]) -> None:
        """Have health tell why the last reload was refused; nothing if it was not."""
        self._serving.note_faults(faults)

    def _ready(self) -> None:
        announce(self._reloads.checked.http, self._listeners)
        self._notifier.ready()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGHUP,))
        if self._reloads.checked.http.reload:
            watching = watch(lambda: self._reloads.files, self._reloads.ask)
            self._watching = asyncio.create_task(watching)

    async def _draining(self) -> None:
        self._notifier.stopping()
        if self._watching is not None:
            self._watching.cancel()
        await self._reloads.stop()
