"""From labelled answers to what the report tells."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Final

import attrs
import numpy as np

from gateway_core.calibration import Calibrator, Thresholds
from gateway_core.calibration.fitfile import Estimate
from gateway_core.calibration.temperature import Bucket
from gateway_core.calibration.thresholdfile import MeasuredThreshold
from gateway_core.evaluation.compare import pairs_of
from gateway_core.evaluation.example import Example
from gateway_core.evaluation.measures import Sample, measured_as_told
from gateway_core.evaluation.report.details import (
    accepted_of,
    aurc_of,
    classes_of,
    mistakes_of,
    months_of,
)
from gateway_core.evaluation.report.parts import Confusion, Pair, Part, Summary
from gateway_core.evaluation.shares import paired_difference, share
from gateway_core.wire import QuestionType

_MOST_OPTIONS: Final = 12


def summary(
    examples: Sequence[Example], calibrator: Calibrator, thresholds: Thresholds | None = None
) -> Summary:
    """Measure labelled answers, each kind of question and each model on its own.

    Args:
        examples: at least one, of any providers.
        calibrator: the fits in force.
        thresholds: the thresholds in force.
    """
    cells: defaultdict[tuple[str, str, QuestionType, Bucket], list[Example]] = defaultdict(list)
    by_provider: defaultdict[str, list[Example]] = defaultdict(list)
    for one in examples:
        cells[one.provider, one.model, one.question_type, one.bucket].append(one)
        by_provider[one.provider].append(one)
    pairs = (
        _pair(by_provider[first], by_provider[second])
        for first, second in combinations(by_provider, 2)
    )
    return Summary(
        parts=tuple(_part(cell, calibrator, thresholds) for cell in cells.values()),
        pairs=tuple(pair for pair in pairs if pair is not None),
    )


def _part(
    examples: Sequence[Example], calibrator: Calibrator, thresholds: Thresholds | None
) -> Part:
    first, raw = examples[0], measured_as_told(examples)
    record = thresholds and thresholds.record_for(
        provider=first.provider,
        model=first.model,
        question_type=first.question_type,
        option_count=len(first.probabilities),
    )
    told, fits = _calibrated(examples, calibrator, record or None)
    calibrated = Sample.of(examples).measured_as(Sample.of(told).logs) if fits else None
    best = calibrated or raw
    return Part(
        provider=first.provider,
        model=first.model,
        question_type=first.question_type,
        bucket=first.bucket,
        fits=fits,
        accuracy=_accuracy(examples),
        raw=raw,
        calibrated=calibrated,
        quality_raw=raw.quality(),
        quality_calibrated=calibrated.quality() if calibrated else None,
        latencies=tuple(sorted(one.latency_ms for one in examples if one.latency_ms is not None)),
        confusion=_confusion(examples),
        classes=classes_of(examples, best),
        accepted=accepted_of(best, record) if record else None,
        aurc=aurc_of(best),
        mistakes=mistakes_of(examples, best),
        months=months_of(examples),
    )


def _accuracy(examples: Sequence[Example]) -> Estimate:
    found = share([one.correct for one in examples])
    if found is None:
        raise ValueError("there are no examples")
    return found


def _pair(first: Sequence[Example], second: Sequence[Example]) -> Pair | None:
    pairs = pairs_of(first, second)
    difference = paired_difference(
        [one.correct for one, _ in pairs], [other.correct for _, other in pairs]
    )
    if difference is None:
        return None
    return Pair(
        first=first[0].provider,
        second=second[0].provider,
        questions=len(pairs),
        difference=difference.estimate,
        p_value=difference.p_value,
    )


def _calibrated(
    examples: Sequence[Example], calibrator: Calibrator, record: MeasuredThreshold | None
) -> tuple[list[Example], tuple[str, ...]]:
    """Return the examples with the fits in force applied, and the ids of those fits."""
    found = [
        calibrator.apply(
            provider=one.provider,
            model=one.model,
            question_type=one.question_type,
            probabilities=dict(zip(one.options, one.probabilities, strict=True)),
            record=record,
        )
        for one in examples
    ]
    told = [
        attrs.evolve(one, probabilities=tuple(calibrated.probabilities.values()))
        for one, calibrated in zip(examples, found, strict=True)
    ]
    return told, tuple(sorted({one.info.id for one in found if one.info}))


def _confusion(examples: Sequence[Example]) -> Confusion | None:
    lists = Counter(one.options for one in examples if len(one.options) <= _MOST_OPTIONS)
    if not lists:
        return None
    options = lists.most_common(1)[0][0]
    counts = np.zeros((len(options), len(options)), int)
    for one in examples:
        if one.options == options:
            counts[one.gold, one.decision] += 1
    return Confusion(options=options, counts=tuple(tuple(map(int, row)) for row in counts))
