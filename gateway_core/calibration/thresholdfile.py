"""The file that measured thresholds are kept in."""

from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import attrs
import msgspec

from gateway_core.calibration.fitfile import BucketFit, replace_json
from gateway_core.calibration.temperature import Bucket
from gateway_core.calibration.thresholdkeys import FILE_NAME, QuestionKind, ThresholdKey
from gateway_core.errors import ConfigError
from gateway_core.files import locked, with_unknown
from gateway_core.wire.question import QuestionType

Fraction = Annotated[float, msgspec.Meta(ge=0, le=1)]
_MOST_REPLACED = 50


@attrs.frozen(kw_only=True)
class MeasuredThreshold:
    """The evidence for one kind of question: the lowest threshold that keeps a budget, and its fit.

    What belongs together is one record and is replaced together, since a threshold means
    nothing on the scale of another fit.

    Attributes:
        provider: the provider's name in the configuration.
        model: the model that answered when it was measured.
        question_type: ``options`` or ``yes_no``.
        bucket: how many options, such as ``2`` or ``3-5``.
        fit: id of the fit that the confidences were calibrated with; None for raw ones.
        threshold: the confidence from which answers are accepted.
        max_error: the budget: the share of accepted answers that may be wrong.
        examples: how many examples it was measured on.
        accepted: how many of them the threshold accepts.
        errors: how many of the accepted ones were wrong.
        error_bound: the upper bound of the error among accepted answers, at the certainty at
            which the search tested it, 95% or more.
        calibration: the fit itself; None for raw confidences.
        method: how the threshold was found.
        data_digest: SHA-256 of the examples that it was measured on.
        created: when it was measured, ISO 8601 in UTC.
    """

    provider: str
    model: str
    question_type: QuestionType
    bucket: Bucket
    fit: str | None
    threshold: Fraction
    max_error: Fraction
    examples: int
    accepted: int
    errors: int
    error_bound: Fraction
    calibration: BucketFit | None = None
    method: str = ""
    data_digest: str = ""
    created: str = ""

    @property
    def kind(self) -> QuestionKind:
        """The kind of question that it is for."""
        return self.provider, self.question_type, self.bucket

    @property
    def key(self) -> ThresholdKey:
        """What is measured once: a kind of question, answered by a model."""
        return self.kind, self.model

    @property
    def name(self) -> str:
        """What a person calls it by."""
        return "/".join((self.provider, self.model, self.question_type, self.bucket))

    @property
    def coverage(self) -> float:
        """The share of the examples that the threshold accepts."""
        return self.accepted / self.examples


@attrs.frozen(kw_only=True)
class ThresholdFile:
    """``thresholds.json`` in the gateway's state: the evidence in force.

    Attributes:
        version: of this layout.
        created: when it was last changed, ISO 8601 in UTC.
        thresholds: the records in force.
        replaced: those that were in force before, the last one last.
    """

    version: Literal[1] = 1
    created: str
    thresholds: tuple[MeasuredThreshold, ...]
    replaced: tuple[MeasuredThreshold, ...] = ()


def read_thresholds(path: Path) -> tuple[MeasuredThreshold, ...]:
    """Read measured thresholds; a file that does not exist holds none.

    Raises:
        OSError: the file cannot be read.
        msgspec.MsgspecError: it is not a threshold file; the message says where.
    """
    return read_file(path).thresholds


def read_file(path: Path) -> ThresholdFile:
    """Read the whole file, as ``read_thresholds`` does."""
    text = _text(path)
    if text is None:
        return ThresholdFile(created="", thresholds=())
    return msgspec.json.decode(text, type=ThresholdFile)


def _text(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def apply_thresholds(state: Path, measured: Iterable[MeasuredThreshold], now: datetime) -> Path:
    """Put thresholds in force; those for other models and kinds of questions stay.

    What they replace is kept, for ``rollback``.

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
    new = {row.key: row for row in measured}

    def put(found: ThresholdFile) -> ThresholdFile:
        out = [row for row in found.thresholds if row.key in new]
        kept = {row.key: row for row in found.thresholds} | new
        return attrs.evolve(
            found, thresholds=tuple(kept.values()), replaced=(*found.replaced, *out)
        )

    return _change(state, now, put)


def remove_thresholds(state: Path, names: Collection[str], now: datetime) -> Path:
    """Take records out of force by name; they are kept, for ``rollback``.

    Raises:
        OSError: the file cannot be read.
        ConfigError: as for ``apply_thresholds``.
    """

    def drop(found: ThresholdFile) -> ThresholdFile:
        out = [row for row in found.thresholds if row.name in names]
        kept = [row for row in found.thresholds if row.name not in names]
        return attrs.evolve(found, thresholds=tuple(kept), replaced=(*found.replaced, *out))

    return _change(state, now, drop)


def rollback(state: Path, name: str, now: datetime) -> MeasuredThreshold:
    """Put the record of that name that was in force before back in force, with its fit.

    Going back once more undoes it.

    Raises:
        OSError: the file cannot be read.
        ConfigError: there is none to go back to; or as for ``apply_thresholds``.
    """
    back: list[MeasuredThreshold] = []

    def swap(found: ThresholdFile) -> ThresholdFile:
        earlier = [row for row in found.replaced if row.name == name]
        if not earlier:
            raise ConfigError(f"nothing was in force before for {name!r}; s1gw calibrate list")
        back.append(earlier[-1])
        out = [row for row in found.thresholds if row.name == name]
        kept = [row for row in found.thresholds if row.name != name]
        replaced = [row for row in found.replaced if row is not earlier[-1]]
        return attrs.evolve(found, thresholds=(*kept, earlier[-1]), replaced=(*replaced, *out))

    _change(state, now, swap)
    return back[0]


def _change(state: Path, now: datetime, change: Callable[[ThresholdFile], ThresholdFile]) -> Path:
    path = state / FILE_NAME
    state.mkdir(parents=True, exist_ok=True)
    try:
        with locked(path, "another command is changing it"):
            replace_json(path, _rewritten(path, change, now))
    except msgspec.MsgspecError as error:
        raise ConfigError(f"{path}: not usable, move it away: {error}") from error
    return path


def _rewritten(
    path: Path, change: Callable[[ThresholdFile], ThresholdFile], now: datetime
) -> dict[str, Any]:
    """Return the file's object after ``change``; what a later version wrote in it stays."""
    text, found = _text(path), read_file(path)
    read: dict[str, Any] = msgspec.json.decode(text) if text else {}
    before = {
        id(row): row_read
        for name in ("thresholds", "replaced")
        for row, row_read in zip(getattr(found, name), read.get(name, ()), strict=True)
    }
    changed = change(found)

    def written(rows: Iterable[MeasuredThreshold]) -> list[dict[str, Any]]:
        return [with_unknown(attrs.asdict(row), before.get(id(row), {})) for row in rows]

    known = {
        "version": changed.version,
        "created": now.isoformat(timespec="seconds"),
        "thresholds": written(changed.thresholds),
        "replaced": written(changed.replaced[-_MOST_REPLACED:]),
    }
    return with_unknown(known, read)
