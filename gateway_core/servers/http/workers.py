"""One worker as its supervisor sees it."""

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import Pipe, get_context, resource_tracker
from time import monotonic
from typing import Any, Final

from gateway_core.errors import ConfigError
from gateway_core.servers.http.channel import Channel, Order, Said
from gateway_core.servers.http.checked import Checked
from gateway_core.servers.http.worker import SUPERVISORS, work

_BUILD_S: Final = 60.0
"""How long a worker may take to build a configuration."""


class Worker:
    """A process that serves.

    Attributes:
        checked: what it serves.
        ready: set when it takes requests.
        pid: the id of its process.
        begun: when it was started, on ``monotonic``'s clock.
    """

    def __init__(self, listeners: list[socket.socket], checked: Checked) -> None:
        """Start a process.

        Args:
            listeners: where clients connect.
            checked: what it serves.
        """
        ours, theirs = Pipe()
        self.checked = checked
        self.ready = asyncio.Event()
        self.begun = monotonic()
        self._process = get_context("spawn").Process(target=work, args=(theirs, listeners))
        # Started with the first process otherwise, it would take SIGINT out of the mask again.
        resource_tracker.ensure_running()
        with _blocked(SUPERVISORS):
            self._process.start()
        self.pid = self._process.pid or 0
        theirs.close()
        self._channel = Channel(ours)
        self._answer: asyncio.Future[Said] | None = None
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._listen()

    async def begin(self) -> None:
        """Say what is served, once."""
        await self.send("begin", self.checked)

    async def send(self, kind: Order, value: Any = None) -> None:
        """Send an order; a worker that is gone gets none."""
        with suppress(OSError):
            # In a thread: one that does not read must not hold up the others.
            await asyncio.to_thread(self._channel.send, kind, value)

    async def settled(self) -> None:
        """Wait until it takes requests, or has ended, for as long as building may take."""
        ready = asyncio.ensure_future(self.ready.wait())
        waiting = (ready, self._ended)
        await asyncio.wait(waiting, timeout=_BUILD_S, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()

    async def prepare(self, checked: Checked) -> None:
        """Have it build ``checked``; return at once when it ends meanwhile.

        Raises:
            ConfigError: it cannot.
        """
        self._answer = asyncio.get_running_loop().create_future()
        await self.send("prepare", checked)
        waiting = (self._answer, self._ended)
        done, _ = await asyncio.wait(waiting, timeout=_BUILD_S, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            raise ConfigError(f"worker {self.pid} did not build it within {_BUILD_S:g} s")
        if self._answer in done and self._answer.result().kind == "refused":
            raise ConfigError(*self._answer.result().value)

    async def commit(self, checked: Checked) -> None:
        """Have it serve what it has built."""
        self.checked = checked
        await self.send("commit")

    async def ended(self) -> str:
        """Wait for its end, and say how it ended, in words."""
        await self._ended
        self._process.join()
        self._channel.close()
        status = self._process.exitcode or 0
        self._process.close()
        return f"was killed by {_named(-status)}" if status < 0 else f"ended with status {status}"

    def terminate(self) -> None:
        """Tell it to drain, or to end when it has not begun to serve."""
        self._kill(signal.SIGTERM)

    def kill(self) -> None:
        """End it now."""
        self._kill(signal.SIGKILL)

    def _kill(self, number: signal.Signals) -> None:
        if not self._ended.done():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_reader(self._process.sentinel, self._note_end)
        loop.add_reader(self._channel.fileno(), self._take_report)

    def _note_end(self) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._process.sentinel)
        loop.remove_reader(self._channel.fileno())
        self._ended.set_result(None)

    def _take_report(self) -> None:
        try:
            report = self._channel.receive()
        except (EOFError, OSError):
            # Its end is told by the process itself.
            asyncio.get_running_loop().remove_reader(self._channel.fileno())
            return
        if report.kind == "ready":
            self.ready.set()
        elif self._answer is not None and not self._answer.done():
            self._answer.set_result(report)


@contextmanager
def _blocked(numbers: tuple[signal.Signals, ...]) -> Iterator[None]:
    """Have processes that are started in the block never see these signals.

    The terminal sends Ctrl-C to a supervisor and its workers alike, and what it means is for the
    supervisor to say. A mask is inherited, and in force before the first line of Python.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _named(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
