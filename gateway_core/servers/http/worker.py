"""A worker: it serves what its supervisor has checked, and reads no configuration itself."""

import asyncio
import os
import signal
import socket
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Final

from gateway_core.errors import ConfigError, GatewayError
from gateway_core.servers.http.channel import Channel, Report
from gateway_core.servers.http.checked import Checked
from gateway_core.servers.http.server import Duties
from gateway_core.servers.http.serving import Prepared, Serving

SUPERVISORS: Final = (signal.SIGINT, signal.SIGHUP)
"""Signals that a terminal sends to all processes of a group; the supervisor says what they mean."""
_GONE: Final = (EOFError, OSError)


def work(connection: "Connection[bytes, bytes]", listeners: list[socket.socket]) -> None:
    """Serve until the supervisor says that it is enough, or is gone; what a worker's process runs.

    Args:
        connection: the way to the supervisor, which says first what is served.
        listeners: where clients connect.
    """
    for number in SUPERVISORS:
        signal.signal(number, signal.SIG_IGN)
    channel = Channel(connection)
    try:
        begin = channel.receive()
    except _GONE:
        return
    _Worker(channel, Serving(begin.value)).run(listeners)


class _Worker:
    def __init__(self, channel: Channel, serving: Serving) -> None:
        self._channel = channel
        self._serving = serving
        self._prepared: Prepared | None = None
        self._building: asyncio.Task[None] | None = None

    def run(self, listeners: list[socket.socket]) -> None:
        server = self._serving.server
        server.duties = Duties(
            name=f"worker {os.getpid()}: ",
            signals={signal.SIGTERM: server.end},
            ready=self._ready,
        )
        self._serving.run(listeners)

    def _ready(self) -> None:
        asyncio.get_running_loop().add_reader(self._channel.fileno(), self._take_order)
        self._report("ready")

    def _report(self, kind: Report, value: object = None) -> None:
        # A supervisor that is gone shows when orders are read.
        with suppress(OSError):
            self._channel.send(kind, value)

    def _take_order(self) -> None:
        try:
            order = self._channel.receive()
        except _GONE:
            # Only a supervisor that was killed cannot tell its workers to end.
            asyncio.get_running_loop().remove_reader(self._channel.fileno())
            self._serving.server.end()
            return
        match order.kind:
            case "prepare":
                self._building = asyncio.create_task(self._prepare(order.value))
            case "commit" if self._prepared is not None:
                self._serving.commit(self._prepared)
                self._prepared = None
            case "abandon":
                self._building = asyncio.create_task(self._abandon())
            case "faults":
                self._serving.note_faults(order.value)
            case "now":
                self._serving.server.end_at_once()

    async def _prepare(self, checked: Checked) -> None:
        try:
            self._prepared = await self._serving.prepare(checked)
        except ConfigError as error:
            self._report("refused", error.faults)
        except GatewayError as error:
            self._report("refused", (str(error),))
        else:
            self._report("prepared")

    async def _abandon(self) -> None:
        prepared, self._prepared = self._prepared, None
        if prepared is not None:
            await self._serving.abandon(prepared)
