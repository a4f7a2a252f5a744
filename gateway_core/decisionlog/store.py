"""Adding to the log, and keeping it within its bounds."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import attrs

from gateway_core.decisionlog.entry import Entry
from gateway_core.decisionlog.schema import digest, now, salt_of

_PRUNED_SHARE: Final = 10
"""The oldest tenth goes when the log is full, so that it does not prune at every entry."""
_INSERT: Final = """
INSERT INTO decisions VALUES (NULL, :logged_at, :request_id, :role, :status, :reason,
    :provider, :model, :question_type, :option_count, :probabilities, :decision, :confidence,
    :fit, :temperature, :threshold, :latency_ms, :attempts, :digest, :outcomes, :content)
"""
_DROP_OLD: Final = "DELETE FROM decisions WHERE logged_at < ?"
_DROP_FIRST: Final = "DELETE FROM decisions WHERE id < ?"
_DROP_ORPHANS: Final = """
DELETE FROM labels WHERE NOT EXISTS (SELECT 1 FROM decisions
    WHERE decisions.request_id = labels.request_id AND decisions.digest = labels.digest)
"""


@attrs.define(eq=False)
class Store:
    """A log that is open for writing.

    Attributes:
        connection: to the file.
        content: whether questions, options and contexts are kept.
        max_bytes: the size that the file is held to.
        max_age_days: how long an entry is kept.
    """

    connection: sqlite3.Connection
    content: bool
    max_bytes: int
    max_age_days: float
    _salt: bytes = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._salt = salt_of(self.connection)

    def add(self, entries: Sequence[Entry]) -> None:
        """Append ``entries`` in one transaction."""
        rows = [self._row(entry) for entry in entries]
        self.connection.execute("BEGIN IMMEDIATE")
        with self.connection:
            self.connection.executemany(_INSERT, rows)

    def _row(self, entry: Entry) -> dict[str, Any]:
        question = entry.question
        options = list(question.outcomes)
        asked = {
            "question": question.text,
            "options": question.options,
            "context": question.context,
        }
        row = attrs.asdict(entry, filter=attrs.filters.exclude("question"))
        return row | {
            "logged_at": now(),
            "role": str(entry.role),
            "question_type": str(question.type),
            "option_count": len(options),
            "probabilities": entry.probabilities and json.dumps(entry.probabilities),
            "attempts": json.dumps(entry.attempts),
            "digest": digest(self._salt, asked),
            "outcomes": json.dumps(
                options if self.content else [digest(self._salt, option) for option in options]
            ),
            "content": json.dumps(asked) if self.content else None,
        }

    def prune(self) -> None:
        """Drop entries that are too old, and the oldest while the file is too large."""
        oldest = datetime.now(UTC) - timedelta(days=self.max_age_days)
        self._drop(_DROP_OLD, oldest.isoformat(timespec="milliseconds"))
        while self._used_bytes() > self.max_bytes:
            count, first = self.connection.execute(
                "SELECT COUNT(*), MIN(id) FROM decisions"
            ).fetchone()
            if not count:
                break
            self._drop(_DROP_FIRST, first + max(1, count // _PRUNED_SHARE))
        # A script, because the driver runs a pragma without rows for its first page only.
        self.connection.executescript("PRAGMA incremental_vacuum")

    def _used_bytes(self) -> int:
        pages, free, size = (
            self.connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        used: int = (pages - free) * size
        return used

    def _drop(self, delete: str, value: object) -> None:
        if self.connection.execute(delete, [value]).rowcount:
            self.connection.execute(_DROP_ORPHANS)
