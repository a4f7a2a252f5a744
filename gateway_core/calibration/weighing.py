"""How sure an answer is and how sure it has to be, both on the same scale or not at all."""

from collections.abc import Mapping
from typing import Final

import attrs

from gateway_core.calibration.calibrator import Calibrated, CalibrationInfo, Calibrator
from gateway_core.calibration.thresholds import Threshold, Thresholds

ABSTAIN: Final = "abstain"
LAST_FIT: Final = "last_fit"
RAW: Final = "raw"
"""What an answer comes to when the fit or threshold that there is was for another model."""
_GOES_ON: Final = "the last fit is applied all the same: decide.when_stale is last_fit"


@attrs.frozen(kw_only=True)
class Weighed:
    """What calibration and thresholds say of one answer.

    Attributes:
        probabilities: by option, after calibration where that applies.
        info: the fit that was applied; None when none was.
        threshold: the confidence that the answer is held to.
        also: probabilities that have to pass the threshold as well: those that the fit of the
            model before gives, since nobody knows on which scale the threshold is meant.
        stale: whether nothing can be accepted, since the threshold is on another scale.
        warnings: what the caller should know.
    """

    probabilities: Mapping[str, float]
    threshold: float
    info: CalibrationInfo | None = None
    also: Mapping[str, float] | None = None
    stale: bool = False
    warnings: tuple[str, ...] = ()


@attrs.define(eq=False, kw_only=True)
class Scales:
    """Fits and thresholds, and what to do when they do not belong to the answer.

    Attributes:
        calibrator: the fits.
        thresholds: the thresholds in force.
        when_stale: ``abstain``, ``last_fit`` or ``raw``.
    """

    calibrator: Calibrator
    thresholds: Thresholds
    when_stale: str = ABSTAIN

    def weigh(
        self,
        probabilities: Mapping[str, float],
        *,
        provider: str,
        model: str,
        question_type: str,
        option_count: int,
        requested: float | None,
    ) -> Weighed:
        """Return how sure an answer is and what it is held to.

        Args:
            probabilities: by option; empty where the provider gave none.
            provider: who answered.
            model: the model that answered.
            question_type: ``options`` or ``yes_no``.
            option_count: how many options the question had; 2 for yes/no.
            requested: the call's ``min_confidence``.
        """
        kind = {"provider": provider, "model": model, "question_type": question_type}
        record = self.thresholds.record_for(**kind, option_count=option_count)
        calibrated = Calibrated(probabilities=probabilities)
        if probabilities:
            calibrated = self.calibrator.apply(**kind, probabilities=probabilities, record=record)
        threshold = self.thresholds.threshold_for(
            **kind,
            option_count=option_count,
            fit=calibrated.info.id if calibrated.info else None,
            requested=requested,
        )
        self._remember(threshold, model, record.name if record else None)
        if threshold.stale:
            return self._without_threshold(calibrated, threshold, probabilities)
        return self._without_fit(calibrated, threshold)

    def _remember(self, threshold: Threshold, model: str, current: str | None) -> None:
        notes = self.calibrator.notes
        if threshold.last is not None:
            notes.mark(
                threshold.last.name,
                f"the threshold {threshold.last.name} is stale: {threshold.last.provider} "
                f"answered with {model!r}",
            )
        elif current is not None:
            notes.clear(current)

    def _without_threshold(
        self, calibrated: Calibrated, threshold: Threshold, probabilities: Mapping[str, float]
    ) -> Weighed:
        """Weigh an answer whose measured threshold is of another model or fit."""
        warnings = (*calibrated.warnings, *threshold.warnings)
        record = threshold.last
        if self.when_stale == LAST_FIT and record is not None:
            last = Calibrated(probabilities={})
            if probabilities:
                last = self.calibrator.of_record(record, probabilities)
            if record.fit is None or last.info is not None or not probabilities:
                return Weighed(
                    probabilities=last.probabilities,
                    info=last.info,
                    threshold=record.threshold,
                    warnings=(*warnings, _GOES_ON),
                )
        return Weighed(
            probabilities=calibrated.probabilities,
            info=calibrated.info,
            threshold=threshold.value,
            stale=self.when_stale != RAW,
            warnings=warnings,
        )

    def _without_fit(self, calibrated: Calibrated, threshold: Threshold) -> Weighed:
        """Weigh an answer whose threshold counts; its fit may be of another model."""
        last = calibrated.last
        warnings = (*calibrated.warnings, *threshold.warnings)
        if last is not None and self.when_stale == LAST_FIT:
            return Weighed(
                probabilities=last.probabilities,
                info=last.info,
                threshold=threshold.value,
                warnings=(*warnings, _GOES_ON),
            )
        held = last is not None and self.when_stale == ABSTAIN
        return Weighed(
            probabilities=calibrated.probabilities,
            info=calibrated.info,
            threshold=threshold.value,
            also=last.probabilities if held and last is not None else None,
            warnings=warnings,
        )
