"""Fits recover what is known, and are refused where they do not help."""

import attrs
import numpy as np
import pytest

from gateway_core.evaluation.fitting import fit_all, fit_temperature, held_out_temperatures
from gateway_core.evaluation.measures import Sample


@pytest.mark.parametrize("temperature", [0.4, 0.8, 1.5, 3.0, 8.0])
@pytest.mark.parametrize("options", [2, 4, 12])
def test_a_fit_recovers_a_known_temperature_within_5_percent(make_examples, temperature, options):
    examples = make_examples(2000, temperature, options=options, seed=3)
    assert fit_temperature(Sample.of(examples)) == pytest.approx(temperature, rel=0.05)


@pytest.mark.parametrize("temperature", [1.5, 2.5])
@pytest.mark.parametrize("options", [2, 4, 8])
def test_rounding_to_two_decimals_does_not_mislead_a_fit(make_examples, temperature, options):
    (fit,), _ = fit_all(
        rounded(make_examples(2000, temperature, options=options)), pooled=False, force=False
    )
    assert fit.temperature == pytest.approx(temperature, rel=0.12)
    assert fit.after.ece.value < fit.before.ece.value / 2
    assert fit.floor == pytest.approx(0.0005, rel=0.05)


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
    assert fit.before.ece.value == pytest.approx(0.1)
    assert fit.after.ece.value < 0.05


def test_a_provider_that_is_always_right_saturates_its_fit(make_examples):
    sure = [attrs.evolve(one, probabilities=(0.8, 0.1, 0.1)) for one in make_examples(60, 1.0)]
    (fit,), _ = fit_all([attrs.evolve(one, gold=0) for one in sure], pooled=False, force=False)
    assert fit.saturated
    assert 0.05 <= fit.temperature <= 20


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
    (fit,), _ = fit_all(always_right, pooled=False, force=False)
    assert fit.saturated
    assert fit.temperature == pytest.approx(0.05, rel=0.01)


def test_no_example_is_tempered_by_a_fit_that_saw_it(make_examples):
    examples = make_examples(60, 2.0)
    temperatures = held_out_temperatures(Sample.of(examples))
    assert len(set(temperatures)) == 5
    flipped = [attrs.evolve(examples[0], gold=(examples[0].gold + 1) % 4), *examples[1:]]
    again = held_out_temperatures(Sample.of(flipped))
    same_fold = temperatures == temperatures[0]
    assert (temperatures[same_fold] == again[same_fold]).all()
    assert (temperatures[~same_fold] != again[~same_fold]).all()
