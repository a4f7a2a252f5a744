"""Thresholds from an error budget: how sure an answer must be for few enough to be wrong."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from gateway_core.calibration import Calibrator
from gateway_core.calibration.temperature import Bucket
from gateway_core.calibration.thresholdfile import MeasuredThreshold
from gateway_core.evaluation.example import Example
from gateway_core.evaluation.measures import Floats
from gateway_core.wire import QuestionType

CERTAINTY: Final = 0.95
_STEPS: Final = 20


@attrs.frozen(kw_only=True)
class Cut:
    """A threshold and what it lets through.

    Attributes:
        threshold: the confidence from which answers are accepted.
        accepted: how many answers that are.
        errors: how many of them are wrong.
        error_bound: the upper 95% bound of their error.
    """

    threshold: float
    accepted: int
    errors: int
    error_bound: float


@attrs.frozen(kw_only=True)
class Unmet:
    """A kind of question for which no threshold keeps the budget.

    Attributes:
        provider: the provider's name.
        model: the model that answered.
        question_type: ``options`` or ``yes_no``.
        bucket: how many options.
        examples: how many examples there are.
        needed: how many accepted answers without an error the budget needs at least.
    """

    provider: str
    model: str
    question_type: QuestionType
    bucket: Bucket
    examples: int
    needed: int


def error_bound(errors: int, accepted: int) -> float:
    """Return the one-sided upper 95% bound of an error rate (Clopper and Pearson, 1934)."""
    if errors >= accepted:
        return 1.0
    return float(beta.ppf(CERTAINTY, errors + 1, accepted - errors))


def fewest_accepted(max_error: float) -> int:
    """Return how many answers, all right, it takes to show that errors are below a budget."""
    return math.ceil(math.log(1 - CERTAINTY) / math.log(1 - max_error))


def lowest_cut(confidence: Floats, correct: NDArray[np.bool_], max_error: float) -> Cut | None:
    """Return the lowest threshold whose error is below the budget with 95% certainty.

    Twenty thresholds, each letting through another twentieth of the examples, are tried from
    the strictest down until one fails. To try them in a fixed order and stop at the first
    failure is what keeps the certainty at 95% however many are tried (fixed sequence testing:
    Angelopoulos et al., "Learn then Test", 2021). Those that let through too few answers to
    pass even without an error are left out.

    Args:
        confidence: of each answer.
        correct: whether it was right.
        max_error: the share of accepted answers that may be wrong, in (0, 1).

    Returns:
        The threshold, or None if none keeps the budget.
    """
    best: Cut | None = None
    for threshold in _candidates(confidence, fewest_accepted(max_error)):
        through = confidence >= threshold
        accepted = int(through.sum())
        errors = accepted - int(correct[through].sum())
        bound = error_bound(errors, accepted)
        if bound > max_error:
            break
        best = Cut(threshold=threshold, accepted=accepted, errors=errors, error_bound=bound)
    return best


def _candidates(confidence: Floats, fewest: int) -> Iterator[float]:
    ranked = np.sort(confidence)[::-1]
    for step in range(1, _STEPS + 1):
        place = math.ceil(len(ranked) * step / _STEPS) - 1
        if place + 1 >= fewest:
            yield float(ranked[place])


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
    confidences, fit = calibrated_confidences(examples, calibrator)
    cut = lowest_cut(confidences, np.array([one.correct for one in examples]), max_error)
    if cut is None:
        return Unmet(
            provider=first.provider,
            model=first.model,
            question_type=first.question_type,
            bucket=first.bucket,
            examples=len(examples),
            needed=fewest_accepted(max_error),
        )
    return MeasuredThreshold(
        provider=first.provider,
        model=first.model,
        question_type=first.question_type,
        bucket=first.bucket,
        fit=fit,
        max_error=max_error,
        examples=len(examples),
        **attrs.asdict(cut),
    )


def calibrated_confidences(
    examples: Sequence[Example], calibrator: Calibrator
) -> tuple[Floats, str | None]:
    """Return the confidence of each example as the gateway would give it, and the fit's id."""
    confidences, fit = np.empty(len(examples)), None
    for place, one in enumerate(examples):
        found = calibrator.apply(
            provider=one.provider,
            model=one.model,
            question_type=one.question_type,
            probabilities={str(number): p for number, p in enumerate(one.probabilities)},
        )
        fit = found.info.id if found.info else None
        confidences[place] = max(found.probabilities.values())
    return confidences, fit
