"""Reading the log, and labelling what is in it, while the gateway may be writing."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from gateway_core.decisionlog.schema import connect, digest, now, salt_of
from gateway_core.errors import ConfigError, InvalidRequest
from gateway_core.wire.question import YES_NO, QuestionType

COLUMNS: Final = (
    "logged_at",
    "request_id",
    "role",
    "status",
    "reason",
    "provider",
    "model",
    "question_type",
    "option_count",
    "probabilities",
    "decision",
    "confidence",
    "calibrated",
    "fit",
    "temperature",
    "threshold",
    "latency_ms",
    "attempts",
    "digest",
    "question",
    "options",
    "context",
    "gold",
)
"""What an exported entry holds, in this order."""

_SELECT: Final = """
SELECT decisions.*, (SELECT gold FROM labels WHERE labels.request_id = decisions.request_id
    AND labels.digest = decisions.digest ORDER BY labels.id DESC LIMIT 1) AS gold
FROM decisions
"""


class LogReader:
    """A log that is open for reading and labelling; a context manager.

    Entries are mappings with the keys of ``COLUMNS``. Where the log keeps no content, options
    are named by their place: ``decision`` and ``gold`` are numbers from 0, ``probabilities`` a
    list, and ``question``, ``options`` and ``context`` are None.
    """

    def __init__(self, path: Path) -> None:
        """Open the log at ``path``.

        Raises:
            ConfigError: there is none, or it cannot be used.
        """
        if not path.is_file():
            raise ConfigError(
                f"decision_log: there is no log at {path}; set decision_log.enabled = true"
            )
        try:
            self._connection = connect(path)
        except sqlite3.Error as error:
            raise ConfigError(f"decision_log.path: not a usable decision log: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._connection.close()
        if isinstance(error, sqlite3.Error):
            raise ConfigError(f"decision_log.path: the log cannot be used: {error}") from error

    def tail(self, count: int) -> list[dict[str, Any]]:
        """Return the last ``count`` entries, oldest first."""
        rows = self._connection.execute(f"{_SELECT} ORDER BY id DESC LIMIT ?", [count])
        return [_entry(row) for row in rows][::-1]

    def follow(self, count: int) -> Iterator[list[dict[str, Any]]]:
        """Yield the last ``count`` entries, and then, whenever asked, those that came since."""
        found = self._connection.execute(f"{_SELECT} ORDER BY id DESC LIMIT ?", [count])
        rows, last = found.fetchall()[::-1], 0
        while True:
            last = rows[-1]["id"] if rows else last
            yield [_entry(row) for row in rows]
            found = self._connection.execute(f"{_SELECT} WHERE id > ? ORDER BY id", [last])
            rows = found.fetchall()

    def show(self, request_id: str) -> list[dict[str, Any]]:
        """Return every entry of one call: its answer and its shadows."""
        rows = self._connection.execute(f"{_SELECT} WHERE request_id = ? ORDER BY id", [request_id])
        return [_entry(row) for row in rows]

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield every entry, oldest first, as of now."""
        for row in self._connection.execute(f"{_SELECT} ORDER BY id"):
            yield _entry(row)

    def label(self, request_id: str, gold: str) -> int:
        """Add the right answer of a call, which replaces an earlier one.

        Args:
            request_id: of the call; where several had it, the last one is meant.
            gold: the right option, or ``yes`` or ``no``.

        Returns:
            The place of ``gold`` among the options.

        Raises:
            InvalidRequest: there is no such call, or ``gold`` is not among its options.
        """
        row, place = self._labelled(request_id, gold)
        self._connection.execute(
            "INSERT INTO labels VALUES (NULL, ?, ?, ?, ?)",
            [now(), request_id, row["digest"], place],
        )
        return place

    def check_label(self, request_id: str, gold: str) -> int:
        """Return the place of a label without adding it; raises as ``label`` does."""
        return self._labelled(request_id, gold)[1]

    def label_all(self, labels: Sequence[tuple[str, str]]) -> None:
        """Add the labels of many calls, all of them or none; raises as ``label`` does."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            for request_id, gold in labels:
                self.label(request_id, gold)
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _labelled(self, request_id: str, gold: str) -> tuple[sqlite3.Row, int]:
        row = self._connection.execute(
            "SELECT digest, outcomes, content, question_type FROM decisions "
            "WHERE request_id = ? ORDER BY id DESC LIMIT 1",
            [request_id],
        ).fetchone()
        if row is None:
            raise InvalidRequest(f"the log holds no request {request_id!r}", "request_id")
        return row, self._place(row, gold)

    def _place(self, row: sqlite3.Row, gold: str) -> int:
        outcomes: list[str] = json.loads(row["outcomes"])
        known = gold if row["content"] else digest(salt_of(self._connection), gold)
        if known not in outcomes:
            names = _names(row)
            hint = f"; they are: {', '.join(names)}" if names else ""
            raise InvalidRequest(f"{gold!r} is not among the request's options{hint}", "gold")
        return outcomes.index(known)


def _names(row: sqlite3.Row) -> list[str] | None:
    if row["content"] is not None:
        names: list[str] = json.loads(row["outcomes"])
        return names
    return list(YES_NO) if row["question_type"] == QuestionType.YES_NO else None


def _entry(row: sqlite3.Row) -> dict[str, Any]:
    content = json.loads(row["content"]) if row["content"] else {}
    names = _names(row)
    spread = json.loads(row["probabilities"]) if row["probabilities"] else None
    found = dict(row) | {
        "attempts": json.loads(row["attempts"]),
        "probabilities": dict(zip(names, spread, strict=True)) if names and spread else spread,
        "decision": _named(row["decision"], names),
        "gold": _named(row["gold"], names),
        "calibrated": row["fit"] is not None,
        **{key: content.get(key) for key in ("question", "options", "context")},
    }
    return {column: found[column] for column in COLUMNS}


def _named(place: int | None, names: list[str] | None) -> int | str | None:
    return place if place is None or names is None else names[place]
