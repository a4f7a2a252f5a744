"""Which threshold an answer is held to: the call's, the provider's, a measured one, or the rest."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from gateway_core.calibration.temperature import bucket_of

if TYPE_CHECKING:
    from gateway_core.calibration.thresholdfile import MeasuredThreshold

FILE_NAME: Final = "thresholds.json"

Kind = tuple[str, str, str]
"""Provider, question type and bucket."""


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
    measured: "Mapping[Kind, MeasuredThreshold]" = attrs.field(factory=dict)
    problems: tuple[str, ...] = ()

    @classmethod
    def load(cls, state: Path, default: float, configured: Mapping[str, float]) -> "Thresholds":
        """Read the measured thresholds of the folder ``state``; there may be none."""
        path = state / FILE_NAME
        if not path.exists():
            return cls(default, configured)
        # Whoever has measured nothing does not pay for what reads measurements.
        import msgspec

        from gateway_core.calibration.thresholdfile import read_thresholds

        try:
            found = read_thresholds(path)
        except OSError as error:
            return cls(default, configured, problems=(f"{FILE_NAME}: {error.strerror}",))
        except msgspec.MsgspecError as error:
            return cls(default, configured, problems=(f"{FILE_NAME}: not usable: {error}",))
        return cls(default, configured, {row.kind: row for row in found})

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
