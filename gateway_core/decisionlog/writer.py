"""Writing the log off the event loop: nothing that answers a call ever waits for the disk."""

import logging
import queue
import threading
from pathlib import Path
from typing import Final

from gateway_core.decisionlog.entry import Entry
from gateway_core.decisionlog.logfile import LogFile
from gateway_core.decisionlog.losses import Losses
from gateway_core.errors import ConfigError

_log: Final = logging.getLogger("s1gw.decisionlog")
_MOST_WAITING: Final = 10_000
_BATCH: Final = 500
_RETRY_S: Final = 0.5
"""How long a file is left alone that could not be used."""


class DecisionLog:
    """The log that a running gateway writes to.

    A thread of its own takes entries from a queue and commits them at once, as many as are
    waiting in one transaction. While the file cannot be used (another program holds its lock, the
    disk is full, its folder is missing) entries wait, and the file is tried again. When more wait
    than the queue holds, entries are dropped and counted.

    Attributes:
        losses: how many entries could not be kept.
        problem: why nothing can be written now; None when it can.
    """

    def __init__(self, path: Path, *, content: bool, max_bytes: int, max_age_days: float) -> None:
        """Open the log at ``path`` and start the thread; ``problem`` says if it does not open.

        Args:
            path: the SQLite file; made if there is none.
            content: whether questions, options and contexts are kept, or only their digests.
            max_bytes: the size that the file is held to.
            max_age_days: how long an entry is kept.
        """
        self.losses = Losses("the decision log lost entries")
        self._file = LogFile(
            path=path, content=content, max_bytes=max_bytes, max_age_days=max_age_days
        )
        self.problem = self._opening_problem()
        self._waiting: queue.Queue[Entry | None] = queue.Queue(_MOST_WAITING)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._write, name="decision-log", daemon=True)
        self._thread.start()

    def add(self, entry: Entry) -> None:
        """Log ``entry`` soon; returns at once and never fails."""
        try:
            self._waiting.put_nowait(entry)
        except queue.Full:
            self.losses.add(1, self.problem or "more decisions than the disk can take")

    def close(self) -> None:
        """Write what is waiting and close the file; blocks until that is done, or has failed."""
        self._closing.set()
        self._waiting.put(None)
        self._thread.join()

    def _opening_problem(self) -> str | None:
        try:
            self._file.open()
        except ConfigError as error:
            return str(error)
        return None

    def _write(self) -> None:
        while (batch := self._next_batch()) is not None:
            if self._keep(batch):
                self._prune()
        self.losses.tell("the log is closed")
        self._file.close()

    def _keep(self, batch: list[Entry]) -> bool:
        """Write ``batch``, and try again while the file cannot be used; say whether it is kept."""
        while not self._written(batch):
            if self._closing.wait(_RETRY_S):
                kept = self._written(batch)
                if not kept:
                    self._lose_all(batch)
                return kept
        self.losses.tell("more decisions than the disk could take")
        return True

    def _written(self, batch: list[Entry]) -> bool:
        try:
            unfit = self._file.add(batch)
        except ConfigError as error:
            if self.problem is None:
                _log.warning("the decision log cannot be written, and is tried again: %s", error)
            self.problem = str(error)
            return False
        if unfit:
            self.losses.add(unfit, "an entry holds what the file cannot")
        if self.problem is not None:
            _log.warning("the decision log is written again")
            self.problem = None
        return True

    def _lose_all(self, batch: list[Entry]) -> None:
        """Give up what waits: the last try before the end has failed."""
        count = len(batch)
        while (more := self._next_batch()) is not None:
            count += len(more)
        self.losses.add(count, self.problem or "the log is closed")
        self._waiting.put(None)

    def _prune(self) -> None:
        try:
            self._file.prune()
        except ConfigError as error:
            # What was added is there; the next batch tries again.
            _log.warning("%s", error)

    def _next_batch(self) -> list[Entry] | None:
        """Wait for entries and return all that are there; None when the log is closed."""
        first = self._waiting.get()
        if first is None:
            return None
        batch = [first]
        while len(batch) < _BATCH and not self._waiting.empty():
            entry = self._waiting.get()
            if entry is None:
                self._waiting.put(None)
                break
            batch.append(entry)
        return batch
