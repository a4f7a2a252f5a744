"""One process that serves: uvicorn's sockets and start, and an end that loses no request."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import ssl
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from time import monotonic
from typing import Any, Final, NoReturn, cast

import attrs
import uvicorn
from uvicorn.server import ServerState

from gateway_core.config.model import HttpConfig
from gateway_core.servers.http.app import Application
from gateway_core.servers.http.connection import ClientConnection
from gateway_core.servers.http.listening import BACKLOG

_log: Final = logging.getLogger("s1gw.http")
CUT_OFF: Final = 128 + signal.SIGINT
"""The status of a process that was told a second time to end."""
STARTUP_FAILURE: Final = 3
"""uvicorn's status for a process whose services could not be opened."""
_LOOK_S: Final = 0.02
_LAST_REPLIES_S: Final = 1.0


async def _nothing() -> None:
    """Do nothing."""


@attrs.define(eq=False, kw_only=True)
class Duties:
    """What whoever runs a server wants to be told.

    Attributes:
        name: what its lines in the log begin with.
        signals: what is done on a signal; others than these keep their meaning.
        ready: called when requests are taken.
        draining: awaited when the end has begun.
        each_second: called once a second, from when requests are taken until the end.
    """

    name: str = ""
    signals: Mapping[int, Callable[[], object]] = attrs.field(factory=dict)
    ready: Callable[[], object] = lambda: None
    draining: Callable[[], Awaitable[object]] = _nothing
    each_second: Callable[[], object] = lambda: None


class HttpServer(uvicorn.Server):
    """Serves an application until it is told to end, then drains.

    Attributes:
        http: ``[http]`` as it is in force.
        duties: what its owner wants to be told.
    """

    def __init__(self, app: Application, http: HttpConfig, tls: ssl.SSLContext | None) -> None:
        """Prepare to serve.

        Args:
            app: what is served.
            http: ``[http]``.
            tls: what connections are secured with, if they are.
        """
        super().__init__(_uvicorn_config(app))
        self.http = http
        self.duties = Duties()
        self._app = app
        self._tls = tls
        self._ending: asyncio.Event
        self._later: set[asyncio.Task[None]] = set()

    @property
    def state(self) -> ServerState:
        """The connections and the requests under way."""
        return self.server_state

    def finish_later(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside serving, and before the end."""
        task = asyncio.create_task(work)
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    def end(self) -> None:
        """Drain, and end."""
        self.should_exit = True
        self._ending.set()

    def interrupt(self) -> None:
        """Drain; the second time, end at once: a person is waiting at the keyboard."""
        if self.should_exit:
            self.end_at_once()
        self.end()

    def end_at_once(self) -> NoReturn:
        """End without waiting for anybody."""
        cut = len(self.state.tasks)
        _log.warning("%sending now: %s cut off", self.duties.name, _requests(cut))
        self._app.access_log.flush()
        os._exit(CUT_OFF)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do what ``duties`` says on signals; the process does not die of them in the end."""
        loop = asyncio.get_running_loop()
        self._ending = asyncio.Event()
        for number, act in self.duties.signals.items():
            loop.add_signal_handler(number, act)
        try:
            yield
        finally:
            for number in self.duties.signals:
                loop.remove_signal_handler(number)
                signal.signal(number, leave)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open the services, and take connections."""
        self.config.ssl = self._tls
        await super().startup(sockets)
        self._clock = asyncio.create_task(self._keep_time())

    async def main_loop(self) -> None:
        """Serve until ``end`` is called."""
        self.duties.ready()
        await self._ending.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take requests for ``drain_delay_s``, then finish those that came within ``drain_s``."""
        await self.duties.draining()
        await self._lame_duck()
        await self._stop_listening(sockets or [])
        self._log("draining %s, for %g s at most", _requests(len(self.state.tasks)), self._drain_s)
        for connection in list(self.state.connections):
            connection.shutdown()
        if not await self._gone(self._drain_s):
            await self._give_up()
        self._clock.cancel()
        if self._later:
            await asyncio.wait(self._later, timeout=_LAST_REPLIES_S)
        await self.lifespan.shutdown()
        self._log("stopped")

    async def _keep_time(self) -> None:
        while True:
            # The date that replies have.
            await self.on_tick(0)
            self.duties.each_second()
            await asyncio.sleep(1)

    async def _lame_duck(self) -> None:
        self._app.life.draining = True
        for connection in list(self.state.connections):
            cast("ClientConnection", connection).retire()
        if delay_s := self.http.drain_delay_s:
            self._log("not ready any more; requests are taken for another %g s", delay_s)
            await asyncio.sleep(delay_s)

    async def _stop_listening(self, sockets: list[socket.socket]) -> None:
        # Who has connected by now is let in.
        await asyncio.sleep(0)
        for server in self.servers:
            server.close()
        for listener in sockets:
            listener.close()
        await asyncio.sleep(0)

    @property
    def _drain_s(self) -> float:
        return self.http.drain_s

    async def _gone(self, patience_s: float) -> bool:
        """Wait until nobody is connected and nothing is under way; say whether that came."""
        until = monotonic() + patience_s
        while self.state.connections or self.state.tasks:
            if monotonic() >= until:
                return False
            await asyncio.sleep(_LOOK_S)
        return True

    async def _give_up(self) -> None:
        """Have what is under way answered with a refusal, and let nobody wait any longer."""
        tasks = list(self.state.tasks)
        connected = len(self.state.connections)
        _log.warning(
            "%stime to drain is over: %s given up, %d connections closed",
            self.duties.name,
            _requests(len(tasks)),
            connected,
        )
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_LAST_REPLIES_S)
        await asyncio.sleep(0)

    def _log(self, text: str, *values: object) -> None:
        _log.info("%s" + text, self.duties.name, *values)


def leave(*_: object) -> NoReturn:
    """End the process: nothing has begun, or everything is finished.

    An exception would come up in the midst of whatever runs.
    """
    os._exit(0)


def _requests(number: int) -> str:
    return "1 request" if number == 1 else f"{number} requests"


def _uvicorn_config(app: Application) -> uvicorn.Config:
    return uvicorn.Config(
        cast("Callable[..., Awaitable[Any]]", app),
        interface="asgi3",
        # An event loop takes buffered protocols as well, which uvicorn's types leave out.
        http=cast("type[asyncio.Protocol]", ClientConnection),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
    )
