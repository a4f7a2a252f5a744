"""The process above the workers of ``--workers N``: it alone reads the configuration."""

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import Final

from gateway_core.errors import ConfigError
from gateway_core.servers.http.checked import Checked, Options
from gateway_core.servers.http.listening import announce
from gateway_core.servers.http.notify import Notifier
from gateway_core.servers.http.reload import Reloads
from gateway_core.servers.http.server import CUT_OFF, STARTUP_FAILURE, leave
from gateway_core.servers.http.watching import watch
from gateway_core.servers.http.workers import Worker

_log: Final = logging.getLogger("s1gw.http")
STEADY_S: Final = 30.0
"""A worker that lived for this long did not fail because of how it was started."""
_FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 30.0
_OVERTIME_S: Final = 10.0


def pause_s(failures: int) -> float:
    """Return how long to wait before a worker is started again, in seconds.

    Args:
        failures: how many ended one after the other soon after their start, this one included.
    """
    if failures <= 1:
        return 0.0
    return min(_FIRST_PAUSE_S * 2.0 ** min(failures - 2, 16), LONGEST_PAUSE_S)


class Supervisor:
    """Starts workers, replaces those that end, and has all of them serve the same."""

    def __init__(self, options: Options, checked: Checked, notifier: Notifier) -> None:
        """Prepare to serve what was checked."""
        self._checked = checked
        self._notifier = notifier
        self._reloads = Reloads(options, checked, self)
        self._reloads.begun, self._reloads.done = notifier.reloading, notifier.ready
        self._faults: tuple[str, ...] = ()
        self._workers: set[Worker] = set()
        self._listeners: list[socket.socket] = []
        self._served = False
        self._failed = False
        self._background: set[asyncio.Task[None]] = set()

    def run(self, listeners: list[socket.socket]) -> None:
        """Serve until told to end; raise ``SystemExit`` when a worker cannot be started at all."""
        self._listeners = listeners
        asyncio.run(self._run())
        if self._failed:
            raise SystemExit(STARTUP_FAILURE)

    async def replace(self, checked: Checked) -> None:
        """Have all workers serve ``checked`` from now on, or none; see ``Served``."""
        await asyncio.gather(*(worker.settled() for worker in self._workers))
        ready = [worker for worker in self._workers if worker.ready.is_set()]
        built = await asyncio.gather(
            *(worker.prepare(checked) for worker in ready), return_exceptions=True
        )
        if failures := [error for error in built if error is not None]:
            await asyncio.gather(*(worker.send("abandon") for worker in ready))
            raise failures[0]
        self._checked, self._faults = checked, ()
        await asyncio.gather(*(worker.commit(checked) for worker in ready))
        for worker in self._workers - set(ready):
            self._later(self._bring_up_to_date(worker))

    def note_faults(self, faults: Sequence[str]) -> None:
        """Have health tell why the last reload was refused, whichever worker is asked."""
        self._faults = tuple(faults)
        for worker in self._workers:
            if worker.ready.is_set():
                self._later(worker.send("faults", self._faults))

    async def _run(self) -> None:
        self._ending, self._complete = asyncio.Event(), asyncio.Event()
        self._take_signals()
        number = self._checked.http.workers
        places = [asyncio.create_task(self._keep_one()) for _ in range(number)]
        chores = [asyncio.create_task(self._tell_ready()), *self._watching()]
        await self._ending.wait()
        self._notifier.stopping()
        for chore in chores:
            chore.cancel()
        await self._reloads.stop()
        await self._drain(places)

    def _take_signals(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._ending.set)
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        loop.add_signal_handler(signal.SIGHUP, lambda: self._reloads.ask("SIGHUP"))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGHUP,))

    def _interrupt(self) -> None:
        if not self._ending.is_set():
            self._ending.set()
            return
        _log.warning("ending now")
        for worker in self._workers:
            worker.kill()
        os._exit(CUT_OFF)

    def _watching(self) -> list[asyncio.Task[None]]:
        if not self._checked.http.reload:
            return []
        return [asyncio.create_task(watch(lambda: self._reloads.files, self._reloads.ask))]

    async def _tell_ready(self) -> None:
        await self._complete.wait()
        self._notifier.ready()
        while True:
            self._notifier.alive()
            await asyncio.sleep(1)

    async def _keep_one(self) -> None:
        """Keep one worker running, until the end begins."""
        failures = 0
        while not self._ending.is_set():
            worker = Worker(self._listeners, self._checked)
            self._workers.add(worker)
            chores = self._later(self._bring_up(worker))
            how = await worker.ended()
            chores.cancel()
            self._workers.discard(worker)
            if self._ending.is_set() or self._cannot_start(how):
                return
            failures = 1 if monotonic() - worker.begun >= STEADY_S else failures + 1
            await self._wait_before_next(worker, how, failures)

    def _cannot_start(self, how: str) -> bool:
        """Say whether no worker has ever served, and one says that it cannot; then end."""
        if self._served or not how.endswith(f"status {STARTUP_FAILURE}"):
            return False
        self._failed = True
        self._ending.set()
        return True

    async def _wait_before_next(self, worker: Worker, how: str, failures: int) -> None:
        wait_s = pause_s(failures)
        when = f"in {wait_s:g} s" if wait_s else "now"
        _log.warning("worker %d %s; another is started %s", worker.pid, how, when)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ending.wait(), wait_s)

    async def _bring_up(self, worker: Worker) -> None:
        await worker.begin()
        await worker.ready.wait()
        self._served = True
        _log.info("worker %d takes requests", worker.pid)
        if not self._complete.is_set() and all(each.ready.is_set() for each in self._workers):
            announce(self._checked.http, self._listeners)
            self._complete.set()
        await self._bring_up_to_date(worker)

    async def _bring_up_to_date(self, worker: Worker) -> None:
        """Have a worker that began before a reload serve what the others do."""
        await worker.ready.wait()
        while worker.checked is not (checked := self._checked):
            try:
                await worker.prepare(checked)
            except ConfigError as error:
                _log.error("worker %d cannot serve what the others do: %s", worker.pid, error)
                worker.terminate()
                return
            await worker.commit(checked)
        if self._faults:
            await worker.send("faults", self._faults)

    def _later(self, work: "asyncio._CoroutineLike[None]") -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    async def _drain(self, places: list[asyncio.Task[None]]) -> None:
        http = self._checked.http
        _log.info("draining %d workers", len(self._workers))
        # Who serves on has these sockets too; nobody is started any more.
        for listener in self._listeners:
            listener.close()
        for worker in self._workers:
            worker.terminate()
        patience_s = http.drain_delay_s + http.drain_s + _OVERTIME_S
        _, late = await asyncio.wait(places, timeout=patience_s)
        if late:
            _log.error("%d workers did not end, and are killed", len(self._workers))
            for worker in self._workers:
                worker.kill()
            await asyncio.wait(late)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            asyncio.get_running_loop().remove_signal_handler(number)
            signal.signal(number, leave)
        _log.info("stopped")
