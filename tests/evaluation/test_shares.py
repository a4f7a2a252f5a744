"""Intervals of shares cover what they say, at the ends too."""

import numpy as np
import pytest
from scipy.stats import binomtest

from gateway_core.evaluation.shares import paired_difference, share, share_of


@pytest.mark.parametrize(("hits", "count"), [(0, 1), (1, 1), (3, 3), (127, 127), (40, 60)])
def test_the_interval_of_a_share_is_the_exact_one(hits, count):
    exact = binomtest(hits, count).proportion_ci(0.95, "exact")
    found = share([place < hits for place in range(count)])
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-12)


def test_127_of_127_means_from_97_percent_on():
    assert share_of(127, 127).low == pytest.approx(0.9714, abs=1e-4)


@pytest.mark.parametrize("truth", [0.5, 0.9, 0.97, 1.0])
@pytest.mark.parametrize("count", [1, 5, 20, 200])
def test_the_interval_of_a_share_covers_the_truth_in_95_of_100_samples(truth, count):
    hits = np.random.default_rng(1).binomial(count, truth, 1000)
    found = [share_of(int(one), count) for one in hits]
    assert np.mean([one.low <= truth <= one.high for one in found]) >= 0.94


@pytest.mark.parametrize(("right", "wins"), [(0.97, 0.02), (0.8, 0.05), (0.9, 0.0)])
@pytest.mark.parametrize("count", [5, 20, 200])
def test_the_interval_of_a_paired_difference_covers_the_truth(right, wins, count):
    """The first is right where the second is, and in a share of the other questions too."""
    draw = np.random.default_rng(2)
    covered = []
    for _ in range(400):
        second = draw.random(count) < right
        swap = draw.random(count)
        first = np.where(swap < wins, True, np.where(swap > 1 - wins / 2, False, second))
        truth = wins * (1 - right) - wins / 2 * right
        found = paired_difference(first, second).estimate
        covered.append(found.low <= truth <= found.high)
    assert np.mean(covered) >= 0.93


def test_newcombes_own_example_is_reproduced():
    # Newcombe (1998), table II, method 10: 36 both, 12 and 2 discordant, 0 neither.
    first = [True] * 36 + [True] * 12 + [False] * 2
    second = [True] * 36 + [False] * 12 + [True] * 2
    found = paired_difference(first, second)
    assert found.estimate.value == pytest.approx(0.2)
    assert (found.estimate.low, found.estimate.high) == pytest.approx((0.0569, 0.3404), abs=2e-3)
    assert found.p_value == pytest.approx(binomtest(2, 14).pvalue)


def test_equal_answers_to_three_questions_are_not_known_to_be_equal_always():
    found = paired_difference([True] * 3, [True] * 3).estimate
    assert (found.value, found.low, found.high) == (0, pytest.approx(-0.5615, abs=1e-3), -found.low)


def test_without_questions_there_is_no_share():
    assert share([]) is None
    assert paired_difference([], []) is None
