"""What the report tells, as records."""

import attrs

from gateway_core.calibration.fitfile import Estimate, Quality
from gateway_core.evaluation.measures import Measured


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
        p_value: of the hypothesis that neither is right more often.
    """

    first: str
    second: str
    questions: int
    difference: Estimate
    p_value: float

    @property
    def gap(self) -> str:
        """The difference in words, with its interval."""
        found = self.difference
        value, low, high = map(_points, (found.value, found.low, found.high))
        told = "a difference" if self.p_value <= 0.05 else "which does not show a difference"
        return (
            f"{value} points of accuracy ({low} to {high}) on the {self.questions:,} questions "
            f"that both answered, {told} beyond chance (McNemar p = {self.p_value:.2g})"
        )


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


def _points(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−")  # noqa: RUF001  # a minus, not a hyphen


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
