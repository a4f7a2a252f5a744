"""Temperature scaling: the check values of its formula, and what it never changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.calibration import bucket_of, tempered
from gateway_core.calibration.temperature import FLOOR, HIGHEST_FLOOR

CHECK_VALUES = [
    ([0.7, 0.2, 0.1], 2, [0.522879, 0.279491, 0.197630]),
    ([0.7, 0.2, 0.1], 0.5, [0.907407, 0.074074, 0.018519]),
    ([0.99, 0.01], 1.5, [0.955358, 0.044642]),
    ([1, 0], 2, [0.999999, 0.000001]),
    ([0.9, 0.1], 2, [0.75, 0.25]),
    ([0.5, 0.5], 2, [0.5, 0.5]),
    ([0.26, 0.74], 1.5, [0.332408, 0.667592]),
]
probability_lists = st.lists(st.floats(0, 1), min_size=2, max_size=256).filter(any)
temperatures = st.floats(0.05, 20)


@pytest.mark.parametrize(("raw", "temperature", "expected"), CHECK_VALUES)
def test_tempering_gives_the_check_values(raw, temperature, expected):
    assert tempered(raw, temperature) == pytest.approx(expected, abs=5e-7)


@given(probability_lists, temperatures, st.sampled_from([FLOOR, HIGHEST_FLOOR]))
def test_the_argmax_never_changes(raw, temperature, floor):
    after = tempered(raw, temperature, floor)
    assert after[raw.index(max(raw))] == max(after)


@given(probability_lists, temperatures)
def test_tempered_probabilities_are_probabilities(raw, temperature):
    after = tempered(raw, temperature)
    assert all(0 <= p <= 1 for p in after)
    assert sum(after) == pytest.approx(1)


@pytest.mark.parametrize(
    ("count", "bucket"),
    [
        (2, "2"),
        (3, "3-5"),
        (5, "3-5"),
        (6, "6-10"),
        (10, "6-10"),
        (11, "11-20"),
        (21, "21-50"),
        (77, "51-100"),
        (256, "101+"),
    ],
)
def test_a_question_falls_into_the_bucket_of_its_option_count(count, bucket):
    assert bucket_of(count) == bucket
