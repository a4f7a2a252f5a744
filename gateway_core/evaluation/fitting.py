"""Fitting temperatures, and refusing those that do not help on examples they did not see."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np
from scipy.optimize import minimize_scalar

from gateway_core.calibration.fitfile import BucketFit
from gateway_core.calibration.temperature import (
    ANY_BUCKET,
    HIGHEST_TEMPERATURE,
    LOWEST_TEMPERATURE,
    Bucket,
)
from gateway_core.evaluation.example import Example
from gateway_core.evaluation.measures import Floats, Sample, floor_of, measured_as_told
from gateway_core.wire import QuestionType

SMALLEST: Final = 30
"""The fewest examples that a temperature is fitted on."""
FOLDS: Final = 5
_BOUNDS: Final = (math.log(LOWEST_TEMPERATURE), math.log(HIGHEST_TEMPERATURE))
_NO_WORSE: Final = 1e-4
_SEED: Final = 20_260_102

Group = tuple[str, QuestionType, Bucket]
"""Model, question type and bucket."""


@attrs.frozen(kw_only=True)
class Refused:
    """A kind of question that got no fit, and why.

    Attributes:
        model: the model that answered.
        question_type: ``options`` or ``yes_no``.
        bucket: how many options.
        examples: how many examples there were.
        why: one sentence.
    """

    model: str
    question_type: QuestionType
    bucket: Bucket
    examples: int
    why: str


def fit_temperature(sample: Sample) -> float:
    """Return the temperature in [0.05, 20] with the least mean negative log-likelihood.

    The likelihood is unimodal in the temperature's logarithm, over which a bounded scalar
    search runs.
    """

    def loss(log_temperature: float) -> float:
        return float(sample.measured(math.exp(log_temperature)).nll.mean())

    found = minimize_scalar(loss, bounds=_BOUNDS, method="bounded", options={"xatol": 1e-5})
    return math.exp(float(found.x))


def _is_saturated(sample: Sample, temperature: float) -> bool:
    """Return whether an end of the range would do as well, to a tenth of a millinat."""
    ends = (sample.measured(end).nll.mean() for end in (LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE))
    return bool(min(ends) - sample.measured(temperature).nll.mean() < _NO_WORSE)


def held_out_temperatures(sample: Sample) -> Floats:
    """Return for every example the temperature fitted on the folds that it is not in."""
    count = len(sample.gold)
    fold = np.random.default_rng(_SEED).permutation(count) % FOLDS
    temperatures = np.empty(count)
    for number in range(FOLDS):
        temperatures[fold == number] = fit_temperature(sample.take(np.flatnonzero(fold != number)))
    return temperatures


def fit_all(
    examples: Sequence[Example], *, pooled: bool, force: bool
) -> tuple[list[BucketFit], list[Refused]]:
    """Fit one temperature per model, question type and bucket.

    Args:
        examples: of one provider.
        pooled: fit one more per model and question type over all its buckets, for the
            buckets that have too few examples of their own.
        force: keep fits that do not help on held-out folds.

    Returns:
        The fits, and the kinds of questions that got none.
    """
    groups: defaultdict[Group, list[Example]] = defaultdict(list)
    for one in examples:
        groups[one.model, one.question_type, one.bucket].append(one)
        if pooled:
            groups[one.model, one.question_type, ANY_BUCKET].append(one)
    found = [_fit_group(group, groups[group], force=force) for group in sorted(groups)]
    return (
        [one for one in found if isinstance(one, BucketFit)],
        [one for one in found if isinstance(one, Refused)],
    )


def _fit_group(group: Group, examples: Sequence[Example], *, force: bool) -> BucketFit | Refused:
    model, question_type, bucket = group
    if len(examples) < SMALLEST:
        return _refused(group, examples, f"at least {SMALLEST} examples are needed")
    floor = floor_of(examples)
    sample = Sample.of(examples, floor)
    raw, held_out = measured_as_told(examples), sample.measured(held_out_temperatures(sample))
    gains = raw.nll - held_out.nll
    helps = gains.mean() > gains.std() / math.sqrt(len(gains))
    if not helps and not force:
        return _refused(
            group, examples, f"it does not help on held-out folds ({gains.mean():+.4f} nats)"
        )
    temperature = fit_temperature(sample)
    return BucketFit(
        model=model,
        question_type=question_type,
        bucket=bucket,
        temperature=temperature,
        floor=floor,
        examples=len(examples),
        saturated=_is_saturated(sample, temperature),
        forced=not helps,
        held_out_gain=float(gains.mean()),
        before=raw.quality(),
        after=held_out.quality(),
    )


def _refused(group: Group, examples: Sequence[Example], why: str) -> Refused:
    model, question_type, bucket = group
    return Refused(
        model=model, question_type=question_type, bucket=bucket, examples=len(examples), why=why
    )
