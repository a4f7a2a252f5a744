"""The log's SQLite file: its tables, and opening it."""

import hashlib
import hmac
import json
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from gateway_core.errors import ConfigError

LAYOUT: Final = 1
_BUSY_S: Final = 5.0
"""How long a command waits for another process's lock."""
_WRITER_BUSY_S: Final = 1.0
"""How long the writer does, which keeps what it could not write and tries again."""
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS secret (salt BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS decisions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    logged_at TEXT NOT NULL, request_id TEXT NOT NULL, role TEXT NOT NULL,
    status TEXT NOT NULL, reason TEXT, provider TEXT, model TEXT,
    question_type TEXT NOT NULL, option_count INTEGER NOT NULL,
    probabilities TEXT, decision INTEGER, confidence REAL, fit TEXT, temperature REAL,
    threshold REAL, latency_ms REAL, attempts TEXT NOT NULL,
    digest TEXT NOT NULL, outcomes TEXT NOT NULL, content TEXT);
CREATE TABLE IF NOT EXISTS labels (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    labelled_at TEXT NOT NULL, request_id TEXT NOT NULL, digest TEXT NOT NULL,
    gold INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS decisions_by_request ON decisions (request_id);
CREATE INDEX IF NOT EXISTS decisions_by_time ON decisions (logged_at);
CREATE INDEX IF NOT EXISTS labels_by_request ON labels (request_id, digest);
"""


def now() -> str:
    """Return the time as the log writes it: ISO 8601 in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def open_log(path: Path) -> sqlite3.Connection:
    """Open the log for writing, making it first if there is none, readable by its owner only.

    Raises:
        ConfigError: it cannot be opened, or is no decision log of this layout.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = connect(path, busy_s=_WRITER_BUSY_S)
        with _closed_on_failure(connection):
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA journal_size_limit = {1 << 20}")
            _lay_out(connection)
    except OSError as error:
        raise ConfigError(f"decision_log.path: cannot be opened: {error.strerror}") from error
    except sqlite3.OperationalError as error:
        raise ConfigError(f"decision_log.path: cannot be used now: {error}") from error
    except sqlite3.Error as error:
        raise ConfigError(f"decision_log.path: not a usable decision log: {error}") from error
    return connection


def connect(path: Path, *, busy_s: float = _BUSY_S) -> sqlite3.Connection:
    """Return a connection whose rows have names; refuse a log of a later layout.

    Args:
        path: the SQLite file.
        busy_s: how long to wait for another process's lock, in seconds.

    Raises:
        ConfigError: a later version of the gateway made the log.
        sqlite3.Error: it is no database.
    """
    # One thread uses a connection at a time, but not always the one that opened it.
    connection = sqlite3.connect(
        path, timeout=busy_s, isolation_level=None, check_same_thread=False
    )
    connection.row_factory = sqlite3.Row
    with _closed_on_failure(connection):
        if connection.execute("PRAGMA user_version").fetchone()[0] > LAYOUT:
            raise ConfigError("decision_log.path: a later version of s1gw made this log")
    return connection


@contextmanager
def _closed_on_failure(connection: sqlite3.Connection) -> Iterator[None]:
    with ExitStack() as stack:
        stack.callback(connection.close)
        yield
        stack.pop_all()


def _lay_out(connection: sqlite3.Connection) -> None:
    connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {LAYOUT}; COMMIT")
    connection.execute(
        "INSERT INTO secret SELECT ? WHERE NOT EXISTS (SELECT 1 FROM secret)",
        [secrets.token_bytes(32)],
    )


def salt_of(connection: sqlite3.Connection) -> bytes:
    """Return the key of the log's digests."""
    salt: bytes = connection.execute("SELECT salt FROM secret").fetchone()[0]
    return salt


def digest(salt: bytes, value: Any) -> str:
    """Return a keyed digest of a JSON value: 32 hexadecimal digits (HMAC-SHA-256, halved)."""
    return hmac.new(salt, json.dumps(value).encode(), hashlib.sha256).hexdigest()[:32]
