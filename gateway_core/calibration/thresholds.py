"""Which threshold an answer is held to: the call's, the provider's, a measured one, or the rest."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final, Literal

import attrs
import msgspec

from gateway_core.calibration.fitfile import Bucket, QuestionType, write_json
from gateway_core.calibration.temperature import bucket_of

FILE_NAME: Final = "thresholds.json"

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
    def coverage(self) -> float:
        """The share of the examples that the threshold accepts."""
        return self.accepted / self.examples


@attrs.frozen(kw_only=True)
class ThresholdFile:
    """``thresholds.json`` in the gateway's state: the thresholds that were applied."""

    version: Literal[1] = 1
    created: str
    thresholds: tuple[MeasuredThreshold, ...]


@attrs.frozen(kw_only=True)
class Threshold:
    """The threshold that counts for one answer.

    Attributes:
        value: the confidence below which the gateway abstains.
        warnings: why a measured threshold counts only in part.
    """

    value: float
    warnings: tuple[str, ...] = ()


@attrs.define(eq=False)
class Thresholds:
    """Every threshold in force, and the order in which they count.

    Attributes:
        default: the one for every provider that has no other.
        configured: those that the configuration gives, by provider.
        measured: those that a measurement set, by provider, question type and bucket.
        problems: why measured ones could not be read.
    """

    default: float
    configured: Mapping[str, float] = attrs.field(factory=dict)
    measured: Mapping[tuple[str, str, str], MeasuredThreshold] = attrs.field(factory=dict)
    problems: tuple[str, ...] = ()

    @classmethod
    def load(cls, state: Path, default: float, configured: Mapping[str, float]) -> "Thresholds":
        """Read the measured thresholds of the folder ``state``; there may be none."""
        try:
            found = read_thresholds(state / FILE_NAME)
        except OSError as error:
            return cls(default, configured, problems=(f"{FILE_NAME}: {error.strerror}",))
        except msgspec.MsgspecError as error:
            return cls(default, configured, problems=(f"{FILE_NAME}: not usable: {error}",))
        return cls(default, configured, {_kind(row): row for row in found})

    def threshold_for(
        self,
        *,
        provider: str,
        model: str,
        question_type: str,
        option_count: int,
        fit: str | None,
        requested: float | None = None,
    ) -> Threshold:
        """Return the threshold for an answer of ``provider``.

        The call's own ``requested`` one wins, then the provider's in the configuration, then
        a measured one, then the default. A measured one holds for the model and the fit it
        was measured with; for another it counts only where it is stricter than the default.

        Args:
            provider: the provider that answered.
            model: the model that it says answered.
            question_type: ``options`` or ``yes_no``.
            option_count: how many options the question had; 2 for yes/no.
            fit: id of the fit that the answer was calibrated with, if any.
            requested: the call's ``min_confidence``.
        """
        if requested is not None:
            return Threshold(value=requested)
        if provider in self.configured:
            return Threshold(value=self.configured[provider])
        found = self.measured.get((provider, question_type, bucket_of(option_count)))
        if found is None:
            return Threshold(value=self.default)
        if (found.model, found.fit) == (model, fit):
            return Threshold(value=found.threshold)
        text = (
            f"the threshold measured for {provider} is for model {found.model!r} with "
            f"{found.fit or 'no fit'}; it counts only if it is above the default"
        )
        return Threshold(value=max(found.threshold, self.default), warnings=(text,))


def read_thresholds(path: Path) -> tuple[MeasuredThreshold, ...]:
    """Read measured thresholds; a file that does not exist holds none.

    Raises:
        OSError: the file cannot be read.
        msgspec.MsgspecError: it is not a threshold file; the message says where.
    """
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return ()
    return msgspec.json.decode(text, type=ThresholdFile).thresholds


def apply_thresholds(state: Path, measured: Iterable[MeasuredThreshold], now: datetime) -> Path:
    """Put thresholds in force; those for other providers and buckets stay.

    Args:
        state: the gateway's own folder.
        measured: the new ones.
        now: when they are applied, in UTC.

    Returns:
        The file that holds them.

    Raises:
        OSError: the file cannot be read or written.
        msgspec.MsgspecError: what is there is not a threshold file.
    """
    path = state / FILE_NAME
    kept = {_kind(row): row for row in (*read_thresholds(path), *measured)}
    record = ThresholdFile(
        created=now.isoformat(timespec="seconds"), thresholds=tuple(kept.values())
    )
    write_json(path, record)
    return path


def _kind(row: MeasuredThreshold) -> tuple[str, str, str]:
    return row.provider, row.question_type, row.bucket
