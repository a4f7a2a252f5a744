"""Fitting temperatures, and refusing those that do not help on examples they did not see."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from gateway_core.calibration.fitfile import BucketFit, Shift
from gateway_core.calibration.temperature import (
    ANY_BUCKET,
    HIGHEST_TEMPERATURE,
    LOWEST_TEMPERATURE,
    Bucket,
)
from gateway_core.evaluation.example import Example
from gateway_core.evaluation.measures import Measured, measured_as_told
from gateway_core.evaluation.scaling import FEW, Data, Scaling, fit_scaling
from gateway_core.wire import QuestionType

SMALLEST: Final = 30
"""The fewest examples that a temperature is fitted on."""
FOLDS: Final = 5
_FEWEST_OF_AN_OPTION: Final = 10
_MOST_BIASED: Final = 20
_CERTAIN: Final = (
    "saturated: certainty would do as well, so the examples are too few or too easy to tell how "
    "sure the provider should be; add some that it gets wrong"
)
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


def is_certain(data: Data, scaling: Scaling) -> bool:
    """Return whether certainty would do as well: no example says how sure is too sure."""
    return _does_as_well(data, scaling, LOWEST_TEMPERATURE)


def _does_as_well(data: Data, scaling: Scaling, end: float) -> bool:
    """Return whether an end of the range does as well, to a tenth of a millinat."""
    sample = data.sample.floored(scaling.floor)
    gap = sample.measured(end).nll.mean() - sample.measured(scaling.temperature).nll.mean()
    return bool(gap < _NO_WORSE)


def held_out(data: Data, *, biased: bool = False) -> Measured:
    """Return what is measured of every example, scaled by the fit of the folds it is not in."""
    count = len(data.sample.gold)
    fold = np.random.default_rng(_SEED).permutation(count) % FOLDS
    logs = np.empty_like(data.sample.logs)
    for number in range(FOLDS):
        inside = np.flatnonzero(fold == number)
        scaling = fit_scaling(data.take(np.flatnonzero(fold != number)), biased=biased)
        part = data.take(inside)
        logs[inside] = scaling.logs(part.sample, part.classes)
    return data.sample.measured_as(logs)


def _improves(gains: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> bool:
    """Return whether gains on held-out examples are above their standard error."""
    return bool(gains.mean() > gains.std() / math.sqrt(len(gains)))


def _may_be_biased(data: Data) -> bool:
    """Return whether the examples support a bias for each option."""
    golds = data.golds()
    enough = len(data.sample.gold) >= FEW and 2 <= len(golds) <= _MOST_BIASED
    return enough and bool(golds.min() >= _FEWEST_OF_AN_OPTION)


def fit_all(
    examples: Sequence[Example], *, pooled: bool, force: bool
) -> tuple[list[BucketFit], list[Refused]]:
    """Fit one temperature per model, question type and bucket, and biases where they help.

    A bias for each option is tried from 200 examples on, if all have the same options, and kept
    if held-out folds are better off with it by more than a standard error.

    Args:
        examples: of one provider.
        pooled: fit one more per model and question type over all its buckets, for the
            buckets that have too few examples of their own.
        force: keep fits that do not help on held-out folds, or that make everything certain.

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
    data = Data.of(examples)
    raw, after = measured_as_told(examples), held_out(data)
    scaling = fit_scaling(data)
    shift, after = _shifted(data, after)
    gains = raw.nll - after.nll
    certain, helps = is_certain(data, scaling), _improves(gains)
    if not force and (certain or not helps):
        return _refused(group, examples, _CERTAIN if certain else _no_help(float(gains.mean())))
    return BucketFit(
        model=model,
        question_type=question_type,
        bucket=bucket,
        temperature=scaling.temperature,
        shift=shift,
        floor=scaling.floor,
        examples=len(examples),
        saturated=certain or _does_as_well(data, scaling, HIGHEST_TEMPERATURE),
        forced=certain or not helps,
        held_out_gain=float(gains.mean()),
        before=raw.quality(),
        after=after.quality(),
    )


def _no_help(gain: float) -> str:
    return f"it does not help on held-out folds ({gain:+.4f} nats)"


def _shifted(data: Data, plain: Measured) -> tuple[Shift | None, Measured]:
    """Return biases if they help where they were not fitted, and what is measured then."""
    if not _may_be_biased(data):
        return None, plain
    biased = held_out(data, biased=True)
    if not _improves(plain.nll - biased.nll):
        return None, plain
    found = fit_scaling(data, biased=True)
    values = [] if found.biases is None else found.biases.tolist()
    biases = dict(zip(data.options, values, strict=True))
    return Shift(temperature=found.temperature, floor=found.floor, biases=biases), biased


def _refused(group: Group, examples: Sequence[Example], why: str) -> Refused:
    model, question_type, bucket = group
    return Refused(
        model=model, question_type=question_type, bucket=bucket, examples=len(examples), why=why
    )
