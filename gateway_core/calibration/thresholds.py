"""Which threshold an answer is held to: the call's, the provider's, a measured one, or the rest."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from gateway_core.calibration.changes import Changes
from gateway_core.calibration.temperature import bucket_of
from gateway_core.calibration.thresholdkeys import FILE_NAME, QuestionKind, ThresholdKey

if TYPE_CHECKING:
    from gateway_core.calibration.thresholdfile import MeasuredThreshold

_CERTAIN: Final = 1.0
_UNREADABLE: Final = (
    f"{FILE_NAME} is not usable, so nobody knows what may be accepted; write it again with "
    "'s1gw calibrate thresholds --apply', or remove it"
)


@attrs.frozen(kw_only=True)
class Threshold:
    """The threshold that counts for one answer.

    Attributes:
        value: the confidence below which the gateway abstains.
        stale: the measured one that there is was measured with another model or fit, so that
            the value is on another scale than the confidence.
        last: that measured one.
        warnings: why a measured threshold counts only in part.
    """

    value: float
    stale: bool = False
    last: "MeasuredThreshold | None" = None
    warnings: tuple[str, ...] = ()


@attrs.define(eq=False)
class Thresholds:
    """Every threshold in force, and the order in which they count.

    Measured ones are read again when their file has changed.

    Attributes:
        default: the one for every provider that has no other.
        configured: those that the configuration gives, by provider.
        measured: those that a measurement set, by kind of question and model.
        problems: why measured ones could not be read.
        lost: whether there are measured ones, and what they say is not known.
        changes: tells when to read the file of measured ones again; None when there is no file.
    """

    default: float
    configured: Mapping[str, float] = attrs.field(factory=dict)
    measured: "Mapping[ThresholdKey, MeasuredThreshold]" = attrs.field(factory=dict)
    problems: tuple[str, ...] = ()
    lost: bool = False
    changes: Changes | None = None

    @classmethod
    def load(cls, state: Path, default: float, configured: Mapping[str, float]) -> "Thresholds":
        """Read the measured thresholds of the folder ``state``; there may be none."""
        found = cls(default, configured, changes=Changes(lambda: (state / FILE_NAME,)))
        found._read(state / FILE_NAME)
        return found

    def refresh(self) -> None:
        """Read measured ones again if their file has changed; looks no more often than it should.

        While what is there cannot be used, those that were read before still count.
        """
        if self.changes is not None and self.changes.found():
            for path in self.changes.paths():
                self._read(path)

    def _read(self, path: Path) -> None:
        self.problems = ()
        try:
            path.stat()
            # Whoever has measured nothing does not pay for what reads measurements.
            import msgspec

            from gateway_core.calibration.thresholdfile import read_thresholds

            self.measured = {row.key: row for row in read_thresholds(path)}
            self.lost = False
        except FileNotFoundError:
            self.measured = {}
            self.lost = False
        except OSError as error:
            self.problems = (f"{FILE_NAME}: {error.strerror}",)
        except msgspec.MsgspecError as error:
            self.problems = (f"{FILE_NAME}: not usable: {error}",)
            # Without the measured ones the default could accept more than was meant.
            self.lost = not self.measured

    def record_for(
        self, *, provider: str, model: str, question_type: str, option_count: int
    ) -> "MeasuredThreshold | None":
        """Return the evidence in force for exactly these answers, if there is any."""
        self.refresh()
        return self.measured.get(((provider, question_type, bucket_of(option_count)), model))

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
        was measured with; for another the answer says that it is stale, as it does while the
        measured ones cannot be read.

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
        self.refresh()
        if provider in self.configured:
            return Threshold(value=self.configured[provider])
        if self.lost:
            return Threshold(value=_CERTAIN, stale=True, warnings=(_UNREADABLE,))
        kind = provider, question_type, bucket_of(option_count)
        own = self.measured.get((kind, model))
        if own is not None and own.fit == fit:
            return Threshold(value=own.threshold)
        return self._of_another(kind)

    def _of_another(self, kind: QuestionKind) -> Threshold:
        found = [row for row in self.measured.values() if row.kind == kind]
        if not found:
            return Threshold(value=self.default)
        strictest = max(found, key=lambda row: row.threshold)
        text = (
            f"the threshold measured for {strictest.provider} is for model {strictest.model!r} "
            f"with {strictest.fit or 'no fit'}; it says nothing of this answer"
        )
        value = max(strictest.threshold, self.default)
        last = max(found, key=lambda row: row.created)
        return Threshold(value=value, stale=True, last=last, warnings=(text,))
