"""What is measured, against values worked out by hand."""

import numpy as np
import pytest

from gateway_core.calibration import tempered
from gateway_core.evaluation.calibrationerror import (
    calibration_error,
    calibration_of,
    debiased_error,
)
from gateway_core.evaluation.example import Example
from gateway_core.evaluation.measures import Sample, floor_of, measured_as_told
from gateway_core.evaluation.resampling import estimate


def example(probabilities, gold):
    usual = {"key": "k", "provider": "p", "model": "m", "question_type": "options"}
    options = tuple("abcd"[: len(probabilities)])
    return Example(probabilities=probabilities, gold=gold, options=options, **usual)


def test_loss_brier_confidence_and_rightness_of_each_example():
    measured = Sample.of([example((0.7, 0.2, 0.1), 0), example((0.4, 0.6), 0)]).measured()
    assert measured.nll == pytest.approx([-np.log(0.7), -np.log(0.4)])
    assert measured.brier == pytest.approx([0.09 + 0.04 + 0.01, 0.36 + 0.36])
    assert measured.confidence == pytest.approx([0.7, 0.6])
    assert measured.correct.tolist() == [True, False]


@pytest.mark.parametrize("temperature", [0.05, 0.5, 2.0, 20.0])
def test_tempering_arrays_agrees_with_tempering_one_answer(temperature):
    spreads = [(0.7, 0.2, 0.1), (1.0, 0.0), (0.25, 0.25, 0.25, 0.25)]
    logs = Sample.of([example(one, 0) for one in spreads]).tempered_logs(temperature)
    for row, spread in zip(np.exp(logs), spreads, strict=True):
        assert row[: len(spread)] == pytest.approx(tempered(spread, temperature))
        assert row[len(spread) :].sum() == 0


def test_the_calibration_error_weighs_each_bins_gap():
    confidence = np.array([0.95, 0.95, 0.65, 1.0])
    correct = np.array([True, False, True, True])
    # Bin 0.9 to 1.0 has 3 of mean confidence 0.9667 and 2 right; bin 0.6 has 1, right.
    assert calibration_error(confidence, correct) == pytest.approx((0.9 + 0.35) / 4)


def test_an_interval_holds_the_value_and_is_the_same_every_time(make_examples):
    measured = Sample.of(make_examples(200, 3.0)).measured()
    first, second = measured.quality(), measured.quality()
    assert first == second
    for number in (first.nll, first.brier, first.ece):
        assert number.low < number.value < number.high
    assert first.p_value < 0.01
    assert first.ece_by_chance < first.ece.value


def drawn(draw, size, temperature):
    """Return confidences of a provider that is so much too sure, and which answers are right."""
    logit = np.abs(draw.normal(0, 2, size))
    confidence = 1 / (1 + np.exp(-logit))
    return confidence, draw.random(size) < 1 / (1 + np.exp(-logit / temperature))


@pytest.mark.parametrize("size", [60, 200])
@pytest.mark.parametrize("temperature", [1.0, 1.6, 2.5])
def test_the_interval_of_the_calibration_error_covers_the_truth(size, temperature):
    draw = np.random.default_rng(8)
    truth = calibration_error(*drawn(draw, 400_000, temperature))
    found = [calibration_of(*drawn(draw, size, temperature)) for _ in range(40)]
    covered = [one.estimate.low <= truth <= one.estimate.high for one in found]
    assert sum(covered) >= 36


def test_a_calibrated_provider_is_called_miscalibrated_in_one_of_twenty_samples_at_most():
    draw = np.random.default_rng(9)
    found = [calibration_of(*drawn(draw, 100, 1.0)) for _ in range(200)]
    assert sum(one.p_value <= 0.05 for one in found) <= 18
    assert sum(one.estimate.low > 0.002 for one in found) <= 18


@pytest.mark.parametrize("temperature", [1.0, 1.2, 1.6, 2.5])
def test_taking_chance_off_brings_the_calibration_error_nearer_to_the_truth(temperature):
    draw = np.random.default_rng(10)
    truth = calibration_error(*drawn(draw, 400_000, temperature))
    samples = [drawn(draw, 100, temperature) for _ in range(300)]
    plain = np.mean([calibration_error(*one) for one in samples]) - truth
    debiased = np.mean([debiased_error(*one) for one in samples]) - truth
    assert abs(debiased) < 0.7 * plain


def test_a_right_answer_that_is_told_with_0_costs_a_finite_loss_and_nothing_else_changes():
    examples = [example((0.99, 0.01, 0.0), 2), example((0.5, 0.3, 0.2), 0)]
    assert floor_of(examples) == pytest.approx(0.0005)
    told, exact = measured_as_told(examples), Sample.of(examples).measured()
    assert told.nll[0] == pytest.approx(-np.log(0.0005), rel=0.01)
    assert told.brier == pytest.approx(exact.brier)
    assert told.confidence == pytest.approx(exact.confidence)


def test_an_interval_covers_the_truth_as_often_as_it_says():
    draw = np.random.default_rng(0)
    samples = [draw.normal(5, 1, 80) for _ in range(60)]
    found = [estimate(lambda rows, s=s: float(s[rows].mean()), 80) for s in samples]
    assert sum(one.low <= 5 <= one.high for one in found) >= 52
