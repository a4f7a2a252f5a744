"""What an answer comes to when the model has changed: nothing crosses from one scale to another."""

from datetime import UTC, datetime

import attrs
import numpy as np
import pytest

from gateway_core.calibration import Calibrator, Scales, Thresholds
from gateway_core.calibration.fitfile import BucketFit, FitFile, write_json
from gateway_core.calibration.thresholdfile import (
    MeasuredThreshold,
    apply_thresholds,
    remove_thresholds,
    rollback,
)
from gateway_core.errors import ConfigError

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FIT = BucketFit(model="m-1", question_type="options", bucket="2", temperature=2.5, examples=500)
RECORD = MeasuredThreshold(
    provider="acme",
    model="m-1",
    question_type="options",
    bucket="2",
    fit="cal-a",
    threshold=0.8,
    max_error=0.1,
    examples=400,
    accepted=300,
    errors=12,
    error_bound=0.07,
    calibration=FIT,
    created="2026-01-01",
)
GRID = np.append(1 / (1 + np.exp(-np.arange(1, 25) / 2)), 1.0)


@pytest.fixture
def scales(tmp_path):
    """Put evidence in force and return what a gateway makes of it."""

    def opened(*rows, fits=True, when_stale="abstain", default=0.5, configured=None):
        if fits:
            save(tmp_path, "cal-a", FIT)
        if rows:
            apply_thresholds(tmp_path, rows, NOW)
        return Scales(
            calibrator=Calibrator.load(tmp_path / "calibration"),
            thresholds=Thresholds.load(tmp_path, default, configured or {}),
            when_stale=when_stale,
        )

    return opened


def save(state, name, fit, created="2026-01-01"):
    record = FitFile(id=name, provider="acme", created=created, fits=(fit,))
    write_json(state / "calibration" / f"{name}.json", record)


def weighed(scales, probability, model="m-1", requested=None):
    return scales.weigh(
        {"a": probability, "b": 1 - probability},
        provider="acme",
        model=model,
        question_type="options",
        option_count=2,
        requested=requested,
    )


def accepted(scales, model="m-1", requested=None):
    """Return the confidences, as told, that are decided."""
    found = []
    for told in GRID:
        one = weighed(scales, float(told), model, requested)
        also = one.also or one.probabilities
        if not one.stale and min(one.probabilities["a"], also["a"]) >= one.threshold:
            found.append(told)
    return found


@pytest.mark.parametrize("when_stale", ["abstain", "last_fit"])
@pytest.mark.parametrize("fits", [True, False])
def test_another_model_never_has_more_decided_than_the_measured_one(scales, fits, when_stale):
    opened = scales(RECORD, fits=fits, when_stale=when_stale)
    before = accepted(opened)
    assert 0 < len(before) < len(GRID)
    after = accepted(opened, "m-2")
    assert after == ([] if when_stale == "abstain" else before)


def test_raw_confidence_counts_only_where_somebody_chose_it(scales):
    opened = scales(RECORD, when_stale="raw")
    assert len(accepted(opened, "m-2")) > len(accepted(opened))


@pytest.mark.parametrize("source", ["call", "configured", "default"])
def test_a_bound_that_a_person_set_has_to_hold_on_both_scales(scales, source):
    opened = scales(
        default=0.8 if source == "default" else 0.0,
        configured={"acme": 0.8} if source == "configured" else {},
    )
    requested = 0.8 if source == "call" else None
    assert accepted(opened, "m-2", requested) == accepted(opened, "m-1", requested)
    over_confident = Scales(
        calibrator=opened.calibrator, thresholds=opened.thresholds, when_stale="raw"
    )
    assert len(accepted(over_confident, "m-2", requested)) > len(accepted(opened, "m-1", requested))


def test_a_new_fit_waits_for_a_threshold_of_its_own(scales, tmp_path):
    scales(RECORD)
    save(tmp_path, "cal-b", attrs.evolve(FIT, temperature=5.0), created="2027-01-01")
    opened = scales(fits=False)
    assert weighed(opened, 0.97).info.id == "cal-a"
    apply_thresholds(
        tmp_path, [attrs.evolve(RECORD, threshold=0.6, calibration=None, fit="cal-b")], NOW
    )
    opened = scales(fits=False)
    assert (weighed(opened, 0.97).info.id, weighed(opened, 0.97).threshold) == ("cal-b", 0.6)


def test_a_threshold_on_raw_confidence_keeps_its_scale_when_a_fit_comes(scales):
    opened = scales(attrs.evolve(RECORD, fit=None, calibration=None))
    one = weighed(opened, 0.9)
    assert (one.info, one.probabilities["a"], one.threshold) == (None, 0.9, 0.8)


def test_a_threshold_whose_fit_is_gone_accepts_nothing(scales):
    opened = scales(attrs.evolve(RECORD, calibration=None, fit="cal-gone"))
    assert accepted(opened) == []
    assert "cal-gone" in weighed(opened, 0.99).warnings[0]


def test_what_is_stale_is_known_to_the_next_process(scales):
    weighed(scales(RECORD), 0.9, "m-2")
    _, text = scales(fits=False).calibrator.stale.values()
    assert "acme/m-1/options/2 is stale" in text
    weighed(scales(fits=False), 0.9, "m-1")
    assert scales(fits=False).calibrator.stale == {}


def test_a_stale_fit_without_a_threshold_is_known_to_the_next_process(scales):
    weighed(scales(), 0.9, "m-2")
    assert list(scales(fits=False).calibrator.stale) == ["cal-a"]


def test_going_back_brings_the_record_with_its_fit_and_again_undoes_it(scales, tmp_path):
    newer = attrs.evolve(RECORD, threshold=0.7, fit=None, calibration=None)
    scales(RECORD)
    scales(newer)
    assert rollback(tmp_path, RECORD.name, NOW) == RECORD
    assert weighed(scales(fits=False), 0.9).info.id == "cal-a"
    assert rollback(tmp_path, RECORD.name, NOW) == newer
    with pytest.raises(ConfigError, match="nothing was in force before"):
        rollback(tmp_path, "other/m/options/2", NOW)


def test_a_removed_record_can_come_back(scales, tmp_path):
    scales(RECORD)
    remove_thresholds(tmp_path, [RECORD.name], NOW)
    assert Thresholds.load(tmp_path, 0.5, {}).measured == {}
    assert rollback(tmp_path, RECORD.name, NOW) == RECORD
