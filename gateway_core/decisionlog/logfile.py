"""The log's file, which may be missing, locked or moved away for a while."""

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import attrs

from gateway_core.decisionlog.entry import Entry
from gateway_core.decisionlog.schema import open_log
from gateway_core.decisionlog.store import Store
from gateway_core.errors import ConfigError

_ENTRY_FAULTS: Final = (
    sqlite3.DataError,
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    ValueError,
    OverflowError,
)
"""What is raised for an entry that no file can hold, such as one with half a surrogate pair."""


@attrs.define(eq=False, kw_only=True)
class LogFile:
    """Writes to the file at a path; opens it when that is needed, and again after a failure.

    Attributes:
        path: the SQLite file; made if there is none.
        content: whether questions, options and contexts are kept.
        max_bytes: the size that the file is held to.
        max_age_days: how long an entry is kept.
    """

    path: Path
    content: bool
    max_bytes: int
    max_age_days: float
    _store: Store | None = attrs.field(default=None, init=False)
    _inode: int | None = attrs.field(default=None, init=False)

    def open(self) -> Store:
        """Return the open file; a file that was moved away or replaced is left, and made anew.

        Raises:
            ConfigError: it cannot be used now.
        """
        if self._store is not None and self._inode != _inode(self.path):
            self.close()
        if self._store is None:
            self._store = self._opened()
            self._inode = _inode(self.path)
        return self._store

    def _opened(self) -> Store:
        connection = open_log(self.path)
        try:
            return Store(
                connection,
                content=self.content,
                max_bytes=self.max_bytes,
                max_age_days=self.max_age_days,
            )
        except sqlite3.Error as error:
            connection.close()
            raise ConfigError(f"decision_log.path: cannot be used: {error}") from error

    def add(self, entries: Sequence[Entry]) -> int:
        """Append ``entries``; return how many of them no file can hold.

        Raises:
            ConfigError: the file cannot be used now.
        """
        store = self.open()
        try:
            store.add(entries)
        except _ENTRY_FAULTS:
            # One of them must not take the others along.
            return 1 if len(entries) == 1 else sum(self.add([entry]) for entry in entries)
        except sqlite3.Error as error:
            self.close()
            raise ConfigError(f"decision_log.path: cannot be written: {error}") from error
        return 0

    def prune(self) -> None:
        """Hold the file to its bounds.

        Raises:
            ConfigError: that failed; what was added is there.
        """
        try:
            self.open().prune()
        except sqlite3.Error as error:
            raise ConfigError(f"decision_log: not held to its bounds: {error}") from error

    def close(self) -> None:
        """Close the file, if it is open."""
        if self._store is not None:
            self._store.connection.close()
            self._store = None


def _inode(path: Path) -> int | None:
    try:
        return os.stat(path).st_ino  # noqa: PTH116 - one call, for every batch
    except OSError:
        return None
