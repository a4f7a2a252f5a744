"""The search for the lowest threshold that keeps a budget, and what can be said where none does."""

import math
from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, binom

from gateway_core.evaluation.measures import Floats

CERTAINTY: Final = 0.95
_STEPS: Final = 20
_STARTS: Final[tuple[tuple[int | None, float], ...]] = ((1, 0.3), (4, 0.3), (9, 0.15), (None, 0.25))
"""How many errors a start leaves room for, None for the last threshold, and its part of the 5%."""
_MOST_LABELS: Final = 1_000_000


@attrs.frozen(kw_only=True)
class Cut:
    """A threshold and what it lets through.

    Attributes:
        threshold: the confidence from which answers are accepted.
        accepted: how many answers that are.
        errors: how many of them are wrong.
        error_bound: the upper bound of their error, at the level of its test.
    """

    threshold: float
    accepted: int
    errors: int
    error_bound: float


def error_bound(errors: int, accepted: int, certainty: float = CERTAINTY) -> float:
    """Return the one-sided upper bound of an error rate (Clopper and Pearson, 1934)."""
    if errors >= accepted:
        return 1.0
    return float(beta.ppf(certainty, errors + 1, accepted - errors))


def fewest_accepted(max_error: float) -> int:
    """Return how many answers, all right, it takes to show that errors are below a budget."""
    return math.ceil(math.log(1 - CERTAINTY) / math.log(1 - max_error))


def labels_needed(errors: int, accepted: int, examples: int, max_error: float) -> int | None:
    """Return about how many labels show the budget if errors stay as rare as they were.

    Args:
        errors: how many accepted answers were wrong.
        accepted: how many were accepted.
        examples: of how many.
        max_error: the budget.

    Returns:
        The number of labels, of which the same share is accepted; None when the error seen is
        not below the budget.
    """
    rate = errors / accepted
    for size in np.unique(np.geomspace(1, _MOST_LABELS, 400).astype(int)):
        if error_bound(math.ceil(rate * size), int(size)) <= max_error:
            return math.ceil(int(size) * examples / accepted)
    return None


def lowest_cut(confidence: Floats, correct: NDArray[np.bool_], max_error: float) -> Cut | None:
    """Return the lowest threshold whose error is below the budget with 95% certainty.

    Twenty thresholds, each letting through another twentieth of the examples, are tested. The
    5% that may go wrong are split over four of them, from which the tests go on downwards; what
    a passed test had is passed on to the next one, and from the last to the first that has not
    passed. That keeps the certainty at 95% however many are tested (Bretz et al., "A graphical
    approach to sequentially rejective multiple test procedures", 2009; for thresholds,
    Angelopoulos et al., "Learn then Test", 2021). Three start where one, four and nine errors
    do not fail the test, for providers that are good at the top; one at the last threshold, for
    those that are good throughout. Those that let through too few answers to pass even
    without an error are left out.

    Args:
        confidence: of each answer.
        correct: whether it was right.
        max_error: the share of accepted answers that may be wrong, in (0, 1).

    Returns:
        The threshold, or None if none keeps the budget.
    """
    cuts = _candidates(confidence, correct, fewest_accepted(max_error))
    levels = _passed(cuts, max_error)
    if not levels:
        return None
    place = max(levels)
    bound = error_bound(cuts[place].errors, cuts[place].accepted, 1 - levels[place])
    return attrs.evolve(
        cuts[place],
        threshold=shortest(cuts[place].threshold, confidence),
        error_bound=min(bound, max_error),
    )


def shortest(threshold: float, confidence: Floats) -> float:
    """Return the shortest decimal that accepts just what ``threshold`` does.

    What is shown and what is in force are then the same number, which people can copy.
    """
    accepted = int((confidence >= threshold).sum())
    for digits in range(2, 17):
        rounded: float = math.floor(threshold * 10**digits) / 10**digits
        if rounded <= threshold and int((confidence >= rounded).sum()) == accepted:
            return rounded
    return threshold


def nearest_cut(confidence: Floats, correct: NDArray[np.bool_]) -> Cut:
    """Return the threshold, of those that are tested, with the lowest bound of its error."""
    cuts = _candidates(confidence, correct, 1)
    return min(cuts, key=lambda cut: (cut.error_bound, -cut.accepted))


def _candidates(confidence: Floats, correct: NDArray[np.bool_], fewest: int) -> list[Cut]:
    """Return the thresholds to test, the strictest first, with what each lets through."""
    ranked, found = np.sort(confidence)[::-1], dict[float, None]()
    for step in range(1, _STEPS + 1):
        place = math.ceil(len(ranked) * step / _STEPS) - 1
        if place + 1 >= fewest:
            found[float(ranked[place])] = None
    cuts = []
    for threshold in found:
        through = confidence >= threshold
        accepted = int(through.sum())
        errors = accepted - int(correct[through].sum())
        bound = error_bound(errors, accepted)
        cuts.append(Cut(threshold=threshold, accepted=accepted, errors=errors, error_bound=bound))
    return cuts


def _passed(cuts: Sequence[Cut], max_error: float) -> dict[int, float]:
    """Return the places of the thresholds that pass, each with the level of its test."""
    levels, passed = _starts(cuts, max_error), dict[int, float]()
    chances = [_chance(cut.errors, cut, max_error) for cut in cuts]
    while True:
        place = next((p for p in levels if chances[p] <= levels[p]), None)
        if place is None:
            return passed
        passed[place] = levels.pop(place)
        around = (*range(place + 1, len(cuts)), *range(place))
        onwards = next((other for other in around if other not in passed), None)
        if onwards is not None:
            levels[onwards] = levels.get(onwards, 0.0) + passed[place]


def _chance(errors: int | None, cut: Cut, max_error: float) -> float:
    """Return how likely so few errors are if the error rate is just the budget."""
    return float(binom.cdf(errors or 0, cut.accepted, max_error))


def _starts(cuts: Sequence[Cut], max_error: float) -> dict[int, float]:
    """Return the level that each place starts with; they add up to 5%."""
    levels: dict[int, float] = {}
    if not cuts:
        return levels
    last = len(cuts) - 1
    for errors, part in _STARTS:
        level = part * (1 - CERTAINTY)
        roomy = (p for p, cut in enumerate(cuts) if _chance(errors, cut, max_error) <= level)
        place = last if errors is None else next(roomy, last)
        levels[place] = levels.get(place, 0.0) + level
    return levels
