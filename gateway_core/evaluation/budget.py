"""Thresholds from an error budget: how sure an answer must be for few enough to be wrong."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import attrs
import numpy as np

from gateway_core.calibration import Calibrator
from gateway_core.calibration.temperature import Bucket
from gateway_core.calibration.thresholdfile import MeasuredThreshold
from gateway_core.evaluation.example import Example, data_digest
from gateway_core.evaluation.measures import Floats
from gateway_core.evaluation.search import (
    Cut,
    fewest_accepted,
    labels_needed,
    lowest_cut,
    nearest_cut,
)
from gateway_core.wire import QuestionType

METHOD: Final = "Learn then Test, 4 starts, 20 steps, Clopper-Pearson 95%"


@attrs.frozen(kw_only=True)
class Unmet:
    """A kind of question for which no threshold keeps the budget, and what comes nearest.

    Attributes:
        provider: the provider's name.
        model: the model that answered.
        question_type: ``options`` or ``yes_no``.
        bucket: how many options.
        examples: how many examples there are.
        needed: how many accepted answers without an error the budget needs at least.
        nearest: what has the lowest bound of all that was tried.
        more: about how many labels it takes if answers to come are as the nearest ones were;
            None if no number of them would do.
    """

    provider: str
    model: str
    question_type: QuestionType
    bucket: Bucket
    examples: int
    needed: int
    nearest: Cut
    more: int | None


def measure_thresholds(
    examples: Sequence[Example], calibrator: Calibrator, max_error: float
) -> tuple[list[MeasuredThreshold], list[Unmet]]:
    """Measure a threshold per provider, model, question type and bucket.

    Args:
        examples: answers with labels, of any providers.
        calibrator: the fits in force; a threshold holds for the fit it was measured with.
        max_error: the share of accepted answers that may be wrong, in (0, 1).

    Returns:
        The thresholds, and the kinds of questions for which there is none.
    """
    groups: defaultdict[tuple[str, str, QuestionType, Bucket], list[Example]] = defaultdict(list)
    for one in examples:
        groups[one.provider, one.model, one.question_type, one.bucket].append(one)
    measured: list[MeasuredThreshold] = []
    unmet: list[Unmet] = []
    for key in sorted(groups):
        found = _measure(groups[key], calibrator, max_error)
        if isinstance(found, Unmet):
            unmet.append(found)
        else:
            measured.append(found)
    return measured, unmet


def _measure(
    examples: Sequence[Example], calibrator: Calibrator, max_error: float
) -> MeasuredThreshold | Unmet:
    first = examples[0]
    kind: dict[str, Any] = {
        "provider": first.provider,
        "model": first.model,
        "question_type": first.question_type,
        "bucket": first.bucket,
        "examples": len(examples),
    }
    confidences, fit = calibrated_confidences(examples, calibrator)
    correct = np.array([one.correct for one in examples])
    cut = lowest_cut(confidences, correct, max_error)
    if cut is None:
        near = nearest_cut(confidences, correct)
        return Unmet(
            **kind,
            needed=fewest_accepted(max_error),
            nearest=near,
            more=labels_needed(near.errors, near.accepted, len(examples), max_error),
        )
    return MeasuredThreshold(
        **kind,
        fit=fit,
        calibration=calibrator.fit_of(fit or "", first.model, first.question_type, first.bucket),
        max_error=max_error,
        method=METHOD,
        data_digest=data_digest(examples),
        created=datetime.now(UTC).isoformat(timespec="milliseconds"),
        **attrs.asdict(cut),
    )


def calibrated_confidences(
    examples: Sequence[Example], calibrator: Calibrator
) -> tuple[Floats, str | None]:
    """Return the confidence of each example under the last fit, and that fit's id."""
    confidences, fit = np.empty(len(examples)), None
    for place, one in enumerate(examples):
        found = calibrator.apply(
            provider=one.provider,
            model=one.model,
            question_type=one.question_type,
            probabilities=dict(zip(one.options, one.probabilities, strict=True)),
        )
        fit = found.info.id if found.info else None
        confidences[place] = found.probabilities[one.options[one.decision]]
    return confidences, fit
