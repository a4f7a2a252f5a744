"""Intervals of shares and of their differences that are honest at 0% and 100% too."""

import math
from collections.abc import Sequence
from typing import Final

import attrs
from scipy.stats import beta, binomtest, norm

from gateway_core.calibration.fitfile import Estimate

_CERTAINTY: Final = 0.95
_Z: Final = float(norm.ppf((1 + _CERTAINTY) / 2))


@attrs.frozen(kw_only=True)
class PairedDifference:
    """By how much one of two is right more often on the same questions.

    Attributes:
        estimate: the difference of the two shares, in [-1, 1], with its 95% interval.
        p_value: of the hypothesis that neither is right more often.
    """

    estimate: Estimate
    p_value: float


def share(hits: Sequence[bool]) -> Estimate | None:
    """Return the share of ``hits`` with its exact 95% interval; None when there are none.

    The interval is that of Clopper and Pearson, "The Use of Confidence or Fiducial Limits"
    (1934), which covers the truth at least as often as it says.
    """
    return share_of(sum(map(bool, hits)), len(hits)) if len(hits) else None


def share_of(hits: int, count: int) -> Estimate:
    """Return the share of ``hits`` among ``count`` as ``share`` does."""
    tail = (1 - _CERTAINTY) / 2
    low = float(beta.ppf(tail, hits, count - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1 - tail, hits + 1, count - hits)) if hits < count else 1.0
    return Estimate(value=hits / count, low=low, high=high)


def paired_difference(first: Sequence[bool], second: Sequence[bool]) -> PairedDifference | None:
    """Return by how much the first is right more often, question by question.

    The interval is the score interval of Newcombe, "Improved Confidence Intervals for the
    Difference Between Binomial Proportions Based on Paired Data" (1998), method 10; the p-value
    that of McNemar's exact test.

    Args:
        first: whether the first provider was right, by question.
        second: the same of the second, in the same order.

    Returns:
        The difference, or None without questions.
    """
    pairs = list(zip(map(bool, first), map(bool, second), strict=True))
    if not pairs:
        return None
    both, neither = pairs.count((True, True)), pairs.count((False, False))
    mine, theirs = pairs.count((True, False)), pairs.count((False, True))
    found = _newcombe(both, mine, theirs, neither)
    p_value = float(binomtest(mine, mine + theirs).pvalue) if mine + theirs else 1.0
    return PairedDifference(estimate=found, p_value=p_value)


def _newcombe(both: int, mine: int, theirs: int, neither: int) -> Estimate:
    count = both + mine + theirs + neither
    one, (low_one, high_one) = (both + mine) / count, _wilson(both + mine, count)
    two, (low_two, high_two) = (both + theirs) / count, _wilson(both + theirs, count)
    related = _correlation(both, mine, theirs, neither)

    def reach(up: float, down: float) -> float:
        return math.sqrt(max(0.0, up**2 - 2 * related * up * down + down**2))

    difference = one - two
    return Estimate(
        value=difference,
        low=max(-1.0, difference - reach(one - low_one, high_two - two)),
        high=min(1.0, difference + reach(high_one - one, two - low_two)),
    )


def _correlation(both: int, mine: int, theirs: int, neither: int) -> float:
    sides = (both + mine) * (theirs + neither) * (both + theirs) * (mine + neither)
    if sides == 0:
        return 0.0
    count, product = both + mine + theirs + neither, both * neither - mine * theirs
    # Newcombe's continuity correction, where the answers go together.
    if product > 0:
        return max(0.0, product - count / 2) / math.sqrt(sides)
    return product / math.sqrt(sides)


def _wilson(hits: int, count: int) -> tuple[float, float]:
    found = binomtest(hits, count).proportion_ci(_CERTAINTY, method="wilson")
    return float(found.low), float(found.high)
