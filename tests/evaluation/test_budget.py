"""Thresholds keep their budget, and say so when none does."""

import numpy as np
import pytest
from scipy.stats import binomtest

from gateway_core.calibration import Calibrator
from gateway_core.calibration.fitfile import BucketFit, FitFile
from gateway_core.evaluation.budget import (
    error_bound,
    fewest_accepted,
    lowest_cut,
    measure_thresholds,
)
from gateway_core.evaluation.measures import Sample


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


def test_the_lowest_threshold_that_keeps_the_budget_is_found():
    confidence = np.repeat([0.9, 0.8, 0.7, 0.6], 100)
    correct = np.ones(400, bool)
    correct[[150, 250, 260, 270, 280, 290, 295]] = False
    cut = lowest_cut(confidence, correct, 0.05)
    assert (cut.threshold, cut.accepted, cut.errors) == (0.6, 400, 7)
    cut = lowest_cut(confidence, correct, 0.03)
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
        *make_examples(600, 1.0, options=2),
        *make_examples(600, 1.0),
        *make_examples(600, 1.0, provider="q"),
    ]
    measured, _ = measure_thresholds(examples, Calibrator(), 0.2)
    assert [(row.provider, row.bucket) for row in measured] == [
        ("p", "2"),
        ("p", "3-5"),
        ("q", "3-5"),
    ]
