"""Thresholds keep their budget, and say so when none does."""

import numpy as np
import pytest
from scipy.stats import binomtest

from gateway_core.calibration import Calibrator
from gateway_core.calibration.fitfile import BucketFit, FitFile
from gateway_core.evaluation.budget import measure_thresholds
from gateway_core.evaluation.measures import Sample
from gateway_core.evaluation.search import (
    error_bound,
    fewest_accepted,
    labels_needed,
    lowest_cut,
    shortest,
)


@pytest.mark.parametrize(("errors", "accepted"), [(0, 1), (0, 59), (3, 100), (40, 1000), (7, 7)])
def test_the_bound_is_that_of_clopper_and_pearson(errors, accepted):
    exact = binomtest(errors, accepted, alternative="less").proportion_ci(0.95, "exact").high
    assert error_bound(errors, accepted) == pytest.approx(exact, abs=1e-12)


def test_59_right_answers_show_that_errors_are_below_5_percent():
    assert fewest_accepted(0.05) == 59
    assert error_bound(0, 59) <= 0.05 < error_bound(0, 58)


@pytest.mark.parametrize(("size", "max_error"), [(400, 0.1), (1000, 0.1), (2000, 0.05)])
def test_the_budget_holds_on_held_out_data_in_93_of_100_repetitions(make_examples, size, max_error):
    kind = {"temperature": 1.0, "options": 3, "scale": 3.0}
    held_out = Sample.of(make_examples(50_000, seed=10_000, **kind)).measured()
    kept = useful = 0
    for seed in range(100):
        seen = Sample.of(make_examples(size, seed=seed, **kind)).measured()
        cut = lowest_cut(seen.confidence, seen.correct, max_error)
        through = held_out.confidence >= (cut.threshold if cut else 2.0)
        useful += cut is not None
        kept += cut is None or 1 - held_out.correct[through].mean() <= max_error
    assert kept >= 93
    assert useful >= 90


@pytest.mark.parametrize(
    ("right", "size", "least"), [(0.98, 2000, 0.99), (0.99, 500, 0.99), (0.97, 2000, 0.9)]
)
def test_a_provider_within_the_budget_throughout_gets_a_threshold(right, size, least):
    draw = np.random.default_rng(3)
    found = [
        lowest_cut(np.maximum(sure, 1 - sure), draw.random(size) < right, 0.05)
        for sure in draw.beta(20, 1, (200, size))
    ]
    assert np.mean([cut is not None for cut in found]) >= least
    assert np.mean([cut.accepted / size for cut in found if cut]) >= 0.98


def test_a_provider_just_outside_the_budget_gets_a_threshold_in_one_of_twenty_runs_at_most():
    """The worst case: the error is just above the budget whatever the threshold is."""
    draw = np.random.default_rng(4)
    found = [lowest_cut(draw.random(300), draw.random(300) >= 0.0501, 0.05) for _ in range(600)]
    # 5% of 600 is 30; three standard errors of that are 16.
    assert sum(cut is not None for cut in found) <= 46


@pytest.mark.parametrize("value", [0.92759167, 0.5, 1.0, 0.333333333333, 0.9999999])
def test_a_shown_threshold_is_the_one_in_force(value):
    confidence = np.array([0.2, value, np.nextafter(value, 0) if value > 0.9 else 0.1])
    found = shortest(value, confidence)
    assert ((confidence >= found) == (confidence >= value)).all()
    assert float(str(found)) == found


def test_a_threshold_is_as_short_as_it_can_be():
    assert shortest(0.92759167, np.array([0.9, 0.92759167])) == 0.92
    assert shortest(0.92759167, np.array([0.9275, 0.92759167])) == 0.92759


def test_labels_needed_are_those_that_would_show_the_budget():
    needed = labels_needed(2, 100, 200, 0.05)
    accepted = needed // 2
    assert error_bound(round(0.02 * accepted), accepted) <= 0.05 + 0.003
    assert labels_needed(10, 100, 200, 0.05) is None


def test_the_lowest_threshold_that_keeps_the_budget_is_found():
    confidence = np.repeat([0.9, 0.8, 0.7, 0.6], 100)
    correct = np.ones(400, bool)
    correct[[150, 250, 260, 270, 280, 290, 295, 310, 320]] = False
    cut = lowest_cut(confidence, correct, 0.05)
    assert (cut.threshold, cut.accepted, cut.errors) == (0.6, 400, 9)
    cut = lowest_cut(confidence, correct, 0.04)
    assert (cut.threshold, cut.accepted, cut.errors) == (0.8, 200, 1)


def test_no_threshold_is_given_where_none_keeps_the_budget(make_examples):
    measured, (unmet,) = measure_thresholds(make_examples(50, 1.0), Calibrator(), 0.05)
    assert measured == []
    assert (unmet.bucket, unmet.examples, unmet.needed) == ("3-5", 50, 59)


def test_a_threshold_is_measured_on_calibrated_confidence_and_names_the_fit(make_examples):
    examples = make_examples(2000, 3.0)
    kind = {"model": "m", "question_type": "options", "bucket": "3-5"}
    fit = FitFile(
        id="cal-a",
        provider="p",
        created="",
        fits=(BucketFit(temperature=3.0, examples=2000, **kind),),
    )
    (calibrated,), _ = measure_thresholds(examples, Calibrator((fit,)), 0.2)
    (raw,), _ = measure_thresholds(examples, Calibrator(), 0.2)
    assert (calibrated.fit, raw.fit) == ("cal-a", None)
    assert calibrated.threshold < raw.threshold
    assert calibrated.error_bound <= 0.2


def test_every_provider_and_bucket_has_a_threshold_of_its_own(make_examples):
    examples = [
        *make_examples(600, 1.0, options=2, scale=3.0),
        *make_examples(600, 1.0, scale=3.0),
        *make_examples(600, 1.0, scale=3.0, provider="q"),
    ]
    measured, _ = measure_thresholds(examples, Calibrator(), 0.2)
    assert [(row.provider, row.bucket) for row in measured] == [
        ("p", "2"),
        ("p", "3-5"),
        ("q", "3-5"),
    ]
