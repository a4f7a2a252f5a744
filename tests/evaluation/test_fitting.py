"""Fits recover what is known, and are refused where they do not help."""

import attrs
import numpy as np
import pytest
from scipy.optimize import minimize

from gateway_core.evaluation.example import Example
from gateway_core.evaluation.fitting import fit_all, held_out
from gateway_core.evaluation.scaling import Data, fit_scaling


@pytest.mark.parametrize("temperature", [0.4, 0.8, 1.5, 3.0, 8.0])
@pytest.mark.parametrize("options", [2, 4, 12])
def test_a_fit_recovers_a_known_temperature_within_5_percent(make_examples, temperature, options):
    examples = make_examples(2000, temperature, options=options, seed=3)
    assert fit_scaling(Data.of(examples)).temperature == pytest.approx(temperature, rel=0.05)


@pytest.mark.parametrize("temperature", [1.5, 2.5])
@pytest.mark.parametrize("options", [2, 4, 8, 20, 77])
def test_rounding_to_two_decimals_does_not_mislead_a_fit(make_examples, temperature, options):
    (fit,), _ = fit_all(
        rounded(make_examples(2000, temperature, options=options)), pooled=False, force=False
    )
    assert fit.temperature == pytest.approx(temperature, rel=0.15)
    assert fit.after.ece.value < fit.before.ece.value / 2


def rounded(examples):
    """Return answers as a provider tells them that rounds to two decimals."""
    told = [np.round(one.probabilities, 2) for one in examples]
    return [
        attrs.evolve(one, probabilities=tuple(map(float, spread / spread.sum())))
        for one, spread in zip(examples, told, strict=True)
    ]


def test_zeros_alone_neither_break_a_fit_nor_run_away_with_it(make_examples):
    sure = [attrs.evolve(one, probabilities=(1.0, 0.0, 0.0)) for one in make_examples(100, 1.0)]
    examples = [attrs.evolve(one, gold=int(place % 10 == 0)) for place, one in enumerate(sure)]
    (fit,), _ = fit_all(examples, pooled=False, force=False)
    assert not fit.saturated
    assert fit.before.ece.value == pytest.approx(0.1, abs=0.001)
    assert fit.after.ece.value < 0.05


def test_a_provider_that_is_always_right_saturates_its_fit(make_examples):
    sure = [attrs.evolve(one, probabilities=(0.8, 0.1, 0.1)) for one in make_examples(60, 1.0)]
    right = [attrs.evolve(one, gold=0) for one in sure]
    fits, (refused,) = fit_all(right, pooled=False, force=False)
    assert fits == []
    assert "saturated" in refused.why
    (fit,), _ = fit_all(right, pooled=False, force=True)
    assert (fit.saturated, fit.forced) == (True, True)
    assert 0.5 <= fit.temperature <= 1


def test_a_calibrated_provider_never_gets_a_fit_that_makes_it_certain():
    draw = np.random.default_rng(5)
    sharpened = 0
    for _ in range(200):
        sure = np.clip(draw.beta(19, 1, 30), 0.501, 0.9999)
        right = draw.random(30) < sure
        examples = [one_of_two(float(p), int(not hit)) for p, hit in zip(sure, right, strict=True)]
        fits, _ = fit_all(examples, pooled=False, force=False)
        sharpened += any(fit.temperature < 0.5 or fit.saturated for fit in fits)
    assert sharpened == 0


def one_of_two(probability, gold, **changes):
    usual = {"key": "", "provider": "p", "model": "m", "question_type": "options"}
    spread = (probability, 1 - probability)
    return Example(**(usual | {"options": ("a", "b")} | changes), probabilities=spread, gold=gold)


@pytest.mark.parametrize("kind", ["yes_no", "options"])
def test_a_favourite_is_taken_off_where_temperature_cannot(kind):
    draw = np.random.default_rng(6)
    names = ("yes", "no") if kind == "yes_no" else ("a", "b")
    logit = draw.normal(0, 2, 1000)
    known = 1 / (1 + np.exp(-logit))
    told = 1 / (1 + np.exp(-(1.5 * logit + 1.0)))
    examples = [
        one_of_two(float(p), int(draw.random() >= q), question_type=kind, options=names)
        for p, q in zip(told, known, strict=True)
    ]
    (fit,), _ = fit_all(examples, pooled=False, force=False)
    assert fit.shift.temperature == pytest.approx(1.5, rel=0.15)
    bias = fit.shift.biases[names[0]] - fit.shift.biases[names[1]]
    assert bias == pytest.approx(-1.0 / 1.5, abs=0.15)
    reference = minimize(platt, [1.0, 0.0], args=(np.log(told / (1 - told)), examples)).x
    assert 1 / fit.shift.temperature == pytest.approx(reference[0], rel=0.05)
    assert bias == pytest.approx(reference[1], abs=0.05)
    (small,), _ = fit_all(examples[:199], pooled=False, force=True)
    assert small.shift is None


def platt(values, logits, examples):
    """The loss of logistic regression on log-odds."""
    first = np.array([one.gold == 0 for one in examples])
    scores = values[0] * logits + values[1]
    return np.logaddexp(0, np.where(first, -scores, scores)).sum()


def test_no_bias_is_kept_where_no_option_is_a_favourite(make_examples):
    kept = [
        fit_all(make_examples(400, 2.5, seed=seed), pooled=False, force=False)[0][0].shift
        for seed in range(30)
    ]
    # One standard error is no proof: about one in six would be kept by chance alone.
    assert sum(one is not None for one in kept) <= 8


@pytest.mark.parametrize("temperature", [0.4, 2.5, 5.0])
def test_a_fit_at_least_halves_the_calibration_error(make_examples, temperature):
    (fit,), refused = fit_all(make_examples(2000, temperature), pooled=False, force=False)
    assert refused == []
    assert fit.after.ece.value <= fit.before.ece.value / 2
    assert fit.after.nll.value < fit.before.nll.value
    assert fit.after.brier.value < fit.before.brier.value
    assert fit.held_out_gain > 0
    assert (fit.examples, fit.saturated, fit.forced) == (2000, False, False)


def test_a_fit_that_does_not_help_is_refused_unless_forced(make_examples):
    examples = make_examples(400, 1.0)
    fits, (refused,) = fit_all(examples, pooled=False, force=False)
    assert fits == []
    assert "does not help on held-out folds" in refused.why
    (fit,), _ = fit_all(examples, pooled=False, force=True)
    assert fit.forced


def test_thirty_examples_are_the_fewest(make_examples):
    assert len(fit_all(make_examples(30, 6.0, seed=1), pooled=False, force=True)[0]) == 1
    fits, (refused,) = fit_all(make_examples(29, 6.0), pooled=False, force=True)
    assert fits == []
    assert "at least 30 examples" in refused.why


def test_every_kind_of_question_has_a_fit_of_its_own(make_examples):
    examples = [
        *make_examples(300, 3.0, options=2, question_type="yes_no"),
        *make_examples(300, 3.0, options=2),
        *make_examples(300, 3.0, options=4),
        *make_examples(300, 3.0, options=4, model="other"),
    ]
    fits, _ = fit_all(examples, pooled=False, force=False)
    assert [(fit.model, fit.question_type, fit.bucket) for fit in fits] == [
        ("m", "options", "2"),
        ("m", "options", "3-5"),
        ("m", "yes_no", "2"),
        ("other", "options", "3-5"),
    ]


def test_a_pooled_fit_serves_buckets_with_too_few_examples(make_examples):
    examples = make_examples(300, 3.0) + make_examples(10, 3.0, options=8)
    fits, (refused,) = fit_all(examples, pooled=True, force=False)
    assert [(fit.bucket, fit.examples) for fit in fits] == [("3-5", 300), ("any", 310)]
    assert refused.bucket == "6-10"


def test_a_temperature_at_the_end_of_its_range_is_flagged(make_examples):
    always_right = [attrs.evolve(one, gold=one.decision) for one in make_examples(200, 1.0)]
    (fit,), _ = fit_all(always_right, pooled=False, force=True)
    assert fit.saturated
    assert 0.05 <= fit.temperature < 0.5


def test_no_example_is_tempered_by_a_fit_that_saw_it(make_examples):
    examples = make_examples(60, 2.0)
    confidence = held_out(Data.of(examples)).confidence
    flipped = [attrs.evolve(examples[0], gold=(examples[0].gold + 1) % 4), *examples[1:]]
    again = held_out(Data.of(flipped)).confidence
    # Only the fold of the changed example is fitted without it.
    assert (confidence == again).sum() == 12
    assert confidence[0] == again[0]
