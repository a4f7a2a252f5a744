"""Writing the log off the event loop: nothing that answers a call ever waits for the disk."""

import logging
import queue
import sqlite3
import threading
from pathlib import Path
from typing import Final

from gateway_core.decisionlog.entry import Entry
from gateway_core.decisionlog.schema import open_log
from gateway_core.decisionlog.store import Store

_log: Final = logging.getLogger("s1gw.decisionlog")
_MOST_WAITING: Final = 10_000
_BATCH: Final = 500


class DecisionLog:
    """The log that a running gateway writes to.

    A thread of its own takes entries from a queue and commits them at once, as many as are
    waiting in one transaction. When the disk cannot keep up, entries are dropped and counted.

    Attributes:
        dropped: how many entries could not be kept.
    """

    def __init__(self, path: Path, *, content: bool, max_bytes: int, max_age_days: float) -> None:
        """Open the log at ``path`` and start the thread.

        Args:
            path: the SQLite file; made if there is none.
            content: whether questions, options and contexts are kept, or only their digests.
            max_bytes: the size that the file is held to.
            max_age_days: how long an entry is kept.

        Raises:
            ConfigError: the file cannot be used.
        """
        self.dropped = 0
        self._store = Store(
            open_log(path), content=content, max_bytes=max_bytes, max_age_days=max_age_days
        )
        self._waiting: queue.Queue[Entry | None] = queue.Queue(_MOST_WAITING)
        self._thread = threading.Thread(target=self._write, name="decision-log", daemon=True)
        self._thread.start()

    def add(self, entry: Entry) -> None:
        """Log ``entry`` soon; returns at once and never fails."""
        try:
            self._waiting.put_nowait(entry)
        except queue.Full:
            self._lose(1, "more decisions than the disk can take")

    def close(self) -> None:
        """Write what is waiting and close the file; blocks until that is done."""
        self._waiting.put(None)
        self._thread.join()

    def _write(self) -> None:
        while (batch := self._next_batch()) is not None:
            try:
                self._store.add(batch)
            except sqlite3.Error as error:
                self._lose(len(batch), str(error))
                continue
            self._prune()
        self._store.connection.close()

    def _prune(self) -> None:
        try:
            self._store.prune()
        except sqlite3.Error as error:
            # What was added is there; the next batch tries again.
            _log.warning("the decision log could not be held to its bounds: %s", error)

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

    def _lose(self, count: int, why: str) -> None:
        self.dropped += count
        _log.warning("the decision log lost entries (%d): %s", count, why)
