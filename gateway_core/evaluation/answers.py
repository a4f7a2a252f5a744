"""Answers that were paid for, kept so that asking can be resumed and never repeats itself."""

import json
from pathlib import Path
from typing import Any

import attrs
import msgspec

from gateway_core.wire import Answer


@attrs.frozen(kw_only=True)
class KeptAnswer:
    """One provider's answer to one question; without probabilities, a refusal or abstention.

    Attributes:
        key: names the question.
        model: the model that answered.
        probabilities: in the options' order.
        latency_ms: how long the answer took, in milliseconds.
    """

    key: str
    model: str
    probabilities: tuple[float, ...] | None
    latency_ms: float


@attrs.define(eq=False)
class Answers:
    """A JSONL file of answers, added to as they come in.

    It holds no question: answers are found by the questions' digests.

    Attributes:
        path: the file.
        by_key: every answer in it; of two to one question, the last.
    """

    path: Path
    by_key: dict[str, KeptAnswer] = attrs.field(factory=dict)

    @classmethod
    def load(cls, path: Path) -> "Answers":
        """Read the answers in ``path``, leaving out a line that a crash cut short.

        The file's folder is made, so that nobody is asked for what could not be kept.

        Raises:
            OSError: the file cannot be read, or its folder cannot be made.
        """
        found = cls(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_bytes().splitlines() if path.exists() else []
        for line in lines:
            try:
                kept = msgspec.json.decode(line, type=KeptAnswer)
            except msgspec.MsgspecError:
                continue
            found.by_key[kept.key] = kept
        return found

    def keep(self, key: str, answer: Answer, model: str, latency_ms: float) -> None:
        """Add one answer, to the file first.

        Raises:
            OSError: it cannot be written; the error names the file.
        """
        spread = answer.probabilities
        kept = KeptAnswer(
            key=key,
            model=answer.model or model,
            probabilities=tuple(spread.values()) if spread else None,
            latency_ms=round(latency_ms, 3),
        )
        self._append(attrs.asdict(kept))
        self.by_key[key] = kept

    def _append(self, row: dict[str, Any]) -> None:
        try:
            with self.path.open("ab") as file:
                # A line of its own even after one that a crash cut short.
                start = b"\n" if file.tell() else b""
                file.write(start + json.dumps(row).encode())
        except OSError as error:
            # A failure to write does not name the file by itself.
            raise OSError(error.errno, error.strerror, str(self.path)) from error
