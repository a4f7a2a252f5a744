"""What the report tells, as numbers."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Final

import attrs
import numpy as np

from gateway_core.calibration import Calibrator
from gateway_core.calibration.fitfile import Estimate, Quality
from gateway_core.evaluation.compare import paired_difference, pairs_of, share
from gateway_core.evaluation.example import Example
from gateway_core.evaluation.measures import Floats, Measured, Sample

_MOST_OPTIONS: Final = 12


@attrs.frozen(kw_only=True, eq=False)
class Confusion:
    """How often which option was decided where which was right.

    Attributes:
        options: their names.
        counts: rows are the right option, columns the decided one.
    """

    options: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@attrs.frozen(kw_only=True, eq=False)
class Part:
    """One provider's answers, measured.

    Attributes:
        provider: its name.
        models: the models that answered.
        fits: ids of the fits that were applied.
        accuracy: share of right decisions.
        raw: numbers per example, from the probabilities as they came.
        calibrated: the same after the fits in force; None when none applies.
        quality_raw: their means.
        quality_calibrated: the same of the calibrated ones.
        latencies: sorted, in milliseconds; of those examples that know it.
        confusion: of the questions with the most common list of options; None when no list
            has few enough.
    """

    provider: str
    models: tuple[str, ...]
    fits: tuple[str, ...]
    accuracy: Estimate
    raw: Measured
    calibrated: Measured | None
    quality_raw: Quality
    quality_calibrated: Quality | None
    latencies: tuple[float, ...]
    confusion: Confusion | None


@attrs.frozen(kw_only=True)
class Pair:
    """Two providers on the questions that both answered.

    Attributes:
        first: one.
        second: the other.
        questions: how many both answered.
        difference: accuracy of the first less that of the second.
    """

    first: str
    second: str
    questions: int
    difference: Estimate


@attrs.frozen(kw_only=True, eq=False)
class Summary:
    """Everything the report shows.

    Attributes:
        parts: one per provider.
        pairs: every two providers with questions in common.
    """

    parts: tuple[Part, ...]
    pairs: tuple[Pair, ...]

    heading = ("provider", "examples", "accuracy", "NLL", "Brier", "ECE", "fit")

    def rows(self) -> list[list[str]]:
        """Return the report's table for a terminal: raw → calibrated where a fit applies."""
        return [_row(part) for part in self.parts]


def summary(examples: Sequence[Example], calibrator: Calibrator) -> Summary:
    """Measure labelled answers.

    Args:
        examples: at least one, of any providers.
        calibrator: the fits in force.
    """
    by_provider: defaultdict[str, list[Example]] = defaultdict(list)
    for one in examples:
        by_provider[one.provider].append(one)
    pairs = (
        _pair(by_provider[first], by_provider[second])
        for first, second in combinations(by_provider, 2)
    )
    return Summary(
        parts=tuple(_part(part, calibrator) for part in by_provider.values()),
        pairs=tuple(pair for pair in pairs if pair is not None),
    )


def _part(examples: Sequence[Example], calibrator: Calibrator) -> Part:
    sample = Sample.of(examples)
    raw = sample.measured()
    temperatures, fits = _temperatures(examples, calibrator)
    calibrated = sample.measured(temperatures) if fits else None
    return Part(
        provider=examples[0].provider,
        models=tuple(sorted({one.model for one in examples})),
        fits=fits,
        accuracy=_accuracy(examples),
        raw=raw,
        calibrated=calibrated,
        quality_raw=raw.quality(),
        quality_calibrated=calibrated.quality() if calibrated else None,
        latencies=tuple(sorted(one.latency_ms for one in examples if one.latency_ms is not None)),
        confusion=_confusion(examples),
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
        difference=difference,
    )


def _temperatures(
    examples: Sequence[Example], calibrator: Calibrator
) -> tuple[Floats, tuple[str, ...]]:
    """Return the temperature in force for each example, 1 without one, and the fits' ids."""
    found = [
        calibrator.apply(
            provider=one.provider,
            model=one.model,
            question_type=one.question_type,
            probabilities=dict(zip(one.options, one.probabilities, strict=True)),
        ).info
        for one in examples
    ]
    ids = tuple(sorted({info.id for info in found if info}))
    return np.array([info.temperature if info else 1.0 for info in found]), ids


def _row(part: Part) -> list[str]:
    before, after = part.quality_raw, part.quality_calibrated
    pairs = [(before.nll, after and after.nll), (before.brier, after and after.brier)]
    pairs.append((before.ece, after and after.ece))
    numbers = [
        f"{one.value:.3f}" + (f" → {other.value:.3f}" if other else "") for one, other in pairs
    ]
    count = str(len(part.raw.nll))
    accuracy = f"{part.accuracy.value:.1%}"
    return [part.provider, count, accuracy, *numbers, ", ".join(part.fits) or "none"]


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
