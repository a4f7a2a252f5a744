"""What rounding explains of probabilities that do not sum to 1, at every number of options."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.wire.rounding import half_unit, summing_to_one


@st.composite
def distributions(draw: st.DrawFn) -> list[float]:
    weights = draw(st.lists(st.floats(0, 1), min_size=2, max_size=256).filter(any))
    total = math.fsum(weights)
    return [weight / total for weight in weights] if total > 1e-9 else [1.0, 0.0]


@given(distributions(), st.integers(2, 6))
def test_a_rounded_distribution_is_accepted_and_hardly_moved(exact, decimals) -> None:
    reported = [round(p, decimals) for p in exact]
    spread = summing_to_one(reported)
    assert spread is not None
    assert math.fsum(spread) == pytest.approx(1, abs=1e-9)
    furthest = max(abs(new - old) for new, old in zip(spread, reported, strict=True))
    assert furthest <= half_unit(reported) + 1e-6
    assert all(0 <= p <= 1 for p in spread)


@given(distributions(), st.integers(2, 6))
def test_order_and_ties_stay_as_they_were_reported(exact, decimals) -> None:
    reported = [round(p, decimals) for p in exact]
    spread = summing_to_one(reported) or []
    pairs = sorted(zip(reported, spread, strict=True))
    assert [new for _, new in pairs] == sorted(spread)
    assert all(a[1] == b[1] for a, b in pairwise(pairs) if a[0] == b[0])


@given(distributions(), st.integers(2, 6), st.floats(0, 1))
def test_no_probability_is_ever_moved_further_than_rounding_moves_one(
    exact, decimals, factor
) -> None:
    reported = [round(p * factor, decimals) for p in exact]
    spread = summing_to_one(reported)
    if spread is not None:
        furthest = max(abs(new - old) for new, old in zip(spread, reported, strict=True))
        assert furthest <= half_unit(reported) + 1.01e-6


@pytest.mark.parametrize(
    "reported",
    [
        [0.001] + [0.0] * 249,
        [0.3511] + [0.0006] * 249,
        [0.35] + [0.0] * 99,
        [0.0] * 100,
        # Above 1, only what is above 0 can have been rounded up.
        [0.34] * 3 + [0.0] * 97,
        [0.515, 0.49],
        [0.333, 0.333, 0.331],
    ],
)
def test_what_no_rounding_explains_is_refused(reported) -> None:
    assert summing_to_one(reported) is None


@pytest.mark.parametrize(
    ("reported", "winner"),
    [
        ([0.33, 0.33, 0.33], 1 / 3),
        ([0.6] + [0.0] * 99, 0.604),
        ([0.01] + [0.0] * 249, 0.01 + 0.99 / 250),
        ([0.51, 0.5], 0.505),
        ([1, 0, 0], 1.0),
        ([0.7, 0.2, 0.1], 0.7),
        # Single precision, told with all its digits.
        ([0.6999999284744263, 0.30000001192092896], 0.7),
    ],
)
def test_what_is_missing_is_spread_evenly(reported, winner) -> None:
    spread = summing_to_one(reported)
    assert spread is not None
    assert max(spread) == pytest.approx(winner, abs=1e-6)


@pytest.mark.parametrize(
    ("reported", "unit"),
    [
        ([1.0, 0.0], 0.005),
        ([0.5, 0.5], 0.005),
        ([0.25, 0.75], 0.005),
        ([0.125, 0.875], 0.0005),
        ([0.9, 0.09999], 0.000005),
        ([1e-7, 0.9], 5e-8),
    ],
)
def test_the_most_precise_probability_says_how_all_were_rounded(reported, unit) -> None:
    assert half_unit(reported) == pytest.approx(unit)
