"""What one number over all answers hides: options, accepted answers, mistakes and months."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np

from gateway_core.calibration.fitfile import Estimate
from gateway_core.calibration.thresholdfile import MeasuredThreshold
from gateway_core.evaluation.example import Example
from gateway_core.evaluation.measures import Measured
from gateway_core.evaluation.report.parts import Accepted, ClassRow, Mistake
from gateway_core.evaluation.shares import share_of

_MOST_CLASSES: Final = 20
_MISTAKES: Final = 5


def classes_of(examples: Sequence[Example], measured: Measured) -> tuple[ClassRow, ...]:
    """Return a row per decided option, over the questions with the most common options."""
    lists = Counter(tuple(sorted(one.options)) for one in examples)
    options, _ = lists.most_common(1)[0]
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(examples):
        if tuple(sorted(one.options)) == options:
            places[one.options[one.decision]].append(place)
    rows = [_class_row(option, rows, measured) for option, rows in places.items()]
    return tuple(sorted(rows, key=lambda row: -row.decided)[:_MOST_CLASSES])


def _class_row(option: str, places: Sequence[int], measured: Measured) -> ClassRow:
    rows = np.array(places)
    return ClassRow(
        option=option,
        decided=len(rows),
        confidence=float(measured.confidence[rows].mean()),
        right=share_of(int(measured.correct[rows].sum()), len(rows)),
    )


def accepted_of(measured: Measured, record: MeasuredThreshold) -> Accepted:
    """Return what the threshold in force lets through of these answers."""
    through = measured.confidence >= record.threshold
    count = int(through.sum())
    wrong = share_of(int((~measured.correct[through]).sum()), count) if count else None
    return Accepted(
        threshold=record.threshold,
        max_error=record.max_error,
        accepted=count,
        coverage=count / len(through),
        wrong=wrong,
    )


def aurc_of(measured: Measured) -> float:
    """Return the area under the risk-coverage curve, in [0, 1].

    Geifman and El-Yaniv, "Selective Classification for Deep Neural Networks" (2017).
    """
    order = np.argsort(-measured.confidence, kind="stable")
    wrong = np.cumsum(~measured.correct[order])
    return float((wrong / np.arange(1, len(order) + 1)).mean())


def mistakes_of(examples: Sequence[Example], measured: Measured) -> tuple[Mistake, ...]:
    """Return the wrong answers of which the provider was most sure."""
    order = np.argsort(-measured.confidence, kind="stable")
    wrong = [int(place) for place in order if not measured.correct[place]]
    return tuple(
        Mistake(
            key=examples[place].key,
            decided=examples[place].options[examples[place].decision],
            right=examples[place].options[examples[place].gold],
            confidence=float(measured.confidence[place]),
        )
        for place in wrong[:_MISTAKES]
    )


def months_of(examples: Sequence[Example]) -> tuple[tuple[str, Estimate], ...]:
    """Return which share was right by month, oldest first; empty where fewer than two are known."""
    months: defaultdict[str, list[bool]] = defaultdict(list)
    for one in examples:
        if one.given:
            months[one.given[:7]].append(one.correct)
    if len(months) < 2:
        return ()
    return tuple((name, share_of(sum(right), len(right))) for name, right in sorted(months.items()))
