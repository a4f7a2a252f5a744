"""The processes that decode and check large bodies, from the gateway's side."""

import asyncio
import logging
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import msgspec

from gateway_core.door.refusals import short_of_resources
from gateway_core.errors import RelayRefused
<<<<<<< HEAD
from gateway_core.relay.large.held import no_room
from gateway_core.relay.large.job import CheckedBody, Job, receive_message, send_message
=======
from gateway_core.relay.large.job import Checked, Job, receive, send
>>>>>>> breaker
from gateway_core.relay.large.spool import Spool, new_file, read_all
from gateway_core.relay.large.turns import Turns

_log: Final = logging.getLogger("s1gw.relay")
_LONGEST_S: Final = 60.0
"""A body of the largest size takes well under a second, on a busy machine some."""
_MODULE: Final = f"{__package__}.checker"
_checked: Final = msgspec.json.Decoder(CheckedBody)


class CheckerFailed(Exception):
    """A process that checks bodies has ended, or does not answer."""


class Checker:
    """One process, started when it is first needed, and anew when it has ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket

    def check(self, job: Job, file: int, out: int) -> CheckedBody:
        """Have a body checked; waits for the answer.

        Raises:
            CheckerFailed: there is none.
        """
        try:
            self._start()
            send_message(self._channel, job, (file, out))
            return _checked.decode(receive_message(self._channel)[0])
        except (OSError, EOFError) as error:
            self.close()
            raise CheckerFailed(type(error).__name__) from error

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._channel.close()
            self._process.kill()
            self._process.wait()
            self._process = None

    def _start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                # -P: what lies in the working folder is not imported.
                self._process = subprocess.Popen(  # noqa: S603 - it is ourselves
                    [sys.executable, "-P", "-m", _MODULE, str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    # What is meant for the gateway, such as an interrupt, is not for it.
                    start_new_session=True,
                )
            except BaseException:
                ours.close()
                raise
        ours.settimeout(_LONGEST_S)
        self._channel = ours


class Checkers:
    """As many processes as the machine has room for beside the gateway, with a fair order."""

    def __init__(self, number: int | None = None) -> None:
        """Take how many there are; by default half as many as processors, at most four."""
        most = number or min(max((os.cpu_count() or 1) // 2, 1), 4)
        self._idle = [Checker() for _ in range(most)]
        self._turns = Turns(most, max(most - 1, 1))
        self._threads = ThreadPoolExecutor(most, thread_name_prefix="s1gw-bodies")

    async def check(self, tenant: str, spool: Spool, job: Job) -> tuple[CheckedBody, bytes]:
        """Return what was found in a body, and the body, decoded; the spool is closed.

        Raises:
            RelayRefused: the body is not what it has to be, or it cannot be checked now.
        """
        try:
            await self._turns.take(tenant)
        except BaseException:
            spool.close()
            raise
        loop = asyncio.get_running_loop()
        # The thread goes on when nobody waits any more, and the turn ends with it.
        work = loop.run_in_executor(self._threads, self._work, spool, job)
        work.add_done_callback(lambda done: self._end_turn(tenant, done))
        try:
            checked, content = await asyncio.shield(work)
        except (CheckerFailed, OSError, MemoryError) as error:
            _log.error("a large body cannot be checked: %s", type(error).__name__)
<<<<<<< HEAD
            raise no_room() from None
        if checked.reason:
            raise RelayRefused(checked.reason, checked.message, checked.field, checked.headers)
        return checked, content
=======
            raise short_of_resources() from None
        if found.reason:
            raise RelayRefused(found.reason, found.message, found.field, found.headers)
        return found, content
>>>>>>> breaker

    async def aclose(self) -> None:
        """End the processes."""
        await asyncio.to_thread(self._threads.shutdown)
        for checker in self._idle:
            checker.close()

    def _end_turn(self, tenant: str, done: asyncio.Future[tuple[CheckedBody, bytes]]) -> None:
        self._turns.give_back(tenant)
        if not done.cancelled():
            # Nobody may be there to look at it, which is no fault.
            done.exception()

    def _work(self, spool: Spool, job: Job) -> tuple[CheckedBody, bytes]:
        checker = self._idle.pop()
        try:
            out = new_file()
            try:
                file = spool.file()
                checked = checker.check(job, file, out)
                if checked.reason:
                    return checked, b""
                return checked, read_all(out if job.encoding else file, checked.size)
            finally:
                os.close(out)
        finally:
            spool.close()
            self._idle.append(checker)
