"""The file that measured thresholds are kept in."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import attrs
import msgspec

from gateway_core.calibration.fitfile import replace_json
from gateway_core.calibration.temperature import Bucket
from gateway_core.calibration.thresholds import FILE_NAME, Key, Kind
from gateway_core.errors import ConfigError
from gateway_core.files import locked, with_unknown
from gateway_core.wire.question import QuestionType

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


@attrs.frozen(kw_only=True)
class MeasuredThreshold:
    """The lowest threshold that kept errors below a budget, for one kind of question.

    Attributes:
        provider: the provider's name in the configuration.
        model: the model that answered when it was measured.
        question_type: ``options`` or ``yes_no``.
        bucket: how many options: ``2``, ``3-5``, ``6-10`` or ``11+``.
        fit: id of the fit that the confidences were calibrated with; None for raw ones.
        threshold: the confidence from which answers are accepted.
        max_error: the budget: the share of accepted answers that may be wrong.
        examples: how many examples it was measured on.
        accepted: how many of them the threshold accepts.
        errors: how many of the accepted ones were wrong.
        error_bound: the upper 95% bound of the error among accepted answers.
    """

    provider: str
    model: str
    question_type: QuestionType
    bucket: Bucket
    fit: str | None
    threshold: Share
    max_error: Share
    examples: int
    accepted: int
    errors: int
    error_bound: Share

    @property
    def kind(self) -> Kind:
        """The kind of question that it is for."""
        return self.provider, self.question_type, self.bucket

    @property
    def key(self) -> Key:
        """What is measured once: a kind of question, answered by a model."""
        return self.kind, self.model

    @property
    def coverage(self) -> float:
        """The share of the examples that the threshold accepts."""
        return self.accepted / self.examples


@attrs.frozen(kw_only=True)
class ThresholdFile:
    """``thresholds.json`` in the gateway's state: the thresholds that were applied."""

    version: Literal[1] = 1
    created: str
    thresholds: tuple[MeasuredThreshold, ...]


def read_thresholds(path: Path) -> tuple[MeasuredThreshold, ...]:
    """Read measured thresholds; a file that does not exist holds none.

    Raises:
        OSError: the file cannot be read.
        msgspec.MsgspecError: it is not a threshold file; the message says where.
    """
    text = _text(path)
    return () if text is None else msgspec.json.decode(text, type=ThresholdFile).thresholds


def _text(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def apply_thresholds(state: Path, measured: Iterable[MeasuredThreshold], now: datetime) -> Path:
    """Put thresholds in force; those for other models and kinds of questions stay.

    Args:
        state: the gateway's own folder.
        measured: the new ones.
        now: when they are applied, in UTC.

    Returns:
        The file that holds them.

    Raises:
        OSError: the file cannot be read.
        ConfigError: what is there is not a threshold file, it cannot be written, or another
            command holds it.
    """
    path = state / FILE_NAME
    state.mkdir(parents=True, exist_ok=True)
    try:
        with locked(path, "another command is changing it"):
            replace_json(path, _rewritten(path, measured, now))
    except msgspec.MsgspecError as error:
        raise ConfigError(f"{path}: not usable, move it away: {error}") from error
    return path


def _rewritten(path: Path, measured: Iterable[MeasuredThreshold], now: datetime) -> dict[str, Any]:
    """Return the file's object with ``measured`` in it; what a later version wrote stays."""
    text = _text(path)
    read: dict[str, Any] = msgspec.json.decode(text) if text else {"thresholds": []}
    rows = {}
    for row, before in zip(read_thresholds(path), read["thresholds"], strict=True):
        rows[row.key] = with_unknown(attrs.asdict(row), before)
    # A new measurement has nothing in common with the one that it replaces.
    rows |= {row.key: attrs.asdict(row) for row in measured}
    created = now.isoformat(timespec="seconds")
    return with_unknown({"version": 1, "created": created, "thresholds": [*rows.values()]}, read)
