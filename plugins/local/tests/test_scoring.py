import pytest
from s1gw_local.metrics import auroc, brier, ece, hits, nll, wilson
from s1gw_local.scoring import choice_confidence, score_confidence, softmax

CONFIDENCES = [
    ([0.7, 0.2, 0.1], 0.55),
    ([0.9, 0.1], 0.80),
    ([0.55, 0.45], 0.10),
    ([0.88, 0.12, 0.0], 0.82),
    ([0.16, 0.28, 0.33, 0.23], 0.1067),
    ([0.25, 0.25, 0.25, 0.25], 0.0),
    ([1.0], 1.0),
]


@pytest.mark.parametrize(("probabilities", "confidence"), CONFIDENCES)
def test_the_confidence_of_a_choice_is_the_reference_servers(probabilities, confidence):
    assert choice_confidence(probabilities) == pytest.approx(confidence, abs=1e-4)


@pytest.mark.parametrize(
    ("probabilities", "confidence"),
    [([0.0, 0.95, 0.05], 0.925), ([0.0, 0.0, 1.0], 1.0), ([1.0], 1.0), ([0.5, 0.5], 0.0)],
)
def test_the_confidence_of_a_score_falls_with_its_spread(probabilities, confidence):
    assert score_confidence(probabilities) == pytest.approx(confidence)


def test_a_softmax_sums_to_one_at_any_temperature():
    for temperature in (1e-320, 0.01, 1, 1e9):
        found = softmax([0.9, 0.8, -1.0], temperature)
        assert sum(found) == pytest.approx(1)
        assert found == sorted(found, reverse=True)


def test_the_measures_give_the_values_worked_out_by_hand():
    rows = [([0.8, 0.2], 0), ([0.6, 0.4], 1)]
    assert hits(rows) == 1
    assert nll(rows) == pytest.approx((0.2231436 + 0.9162907) / 2)
    assert brier(rows) == pytest.approx((0.08 + 0.72) / 2)
    assert ece(rows) == pytest.approx((0.2 + 0.6) / 2)
    assert wilson(8, 10) == pytest.approx((0.4901625, 0.9433178), abs=1e-6)
    assert auroc([0.9, 0.5, 0.5, 0.1], [True, True, False, False]) == pytest.approx(0.875)
