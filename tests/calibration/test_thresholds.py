"""Which threshold counts for an answer."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import attrs
import pytest

from gateway_core.calibration.fitfile import write_json
from gateway_core.calibration.thresholdfile import (
    MeasuredThreshold,
    ThresholdFile,
    apply_thresholds,
)
from gateway_core.calibration.thresholdkeys import FILE_NAME
from gateway_core.calibration.thresholds import Thresholds

MEASURED = MeasuredThreshold(
    provider="laya",
    model="laya-1",
    question_type="options",
    bucket="3-5",
    fit="cal-a",
    threshold=0.8,
    max_error=0.05,
    examples=400,
    accepted=300,
    errors=5,
    error_bound=0.035,
)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
ASKED = {"model": "laya-1", "question_type": "options", "option_count": 4, "fit": "cal-a"}


def thresholds(state, configured=None, **changes):
    record = ThresholdFile(created="now", thresholds=(attrs.evolve(MEASURED, **changes),))
    write_json(state / FILE_NAME, record)
    return Thresholds.load(state, 0.6, configured or {})


def test_the_calls_own_threshold_wins(tmp_path):
    found = thresholds(tmp_path, {"laya": 0.7})
    assert found.threshold_for(provider="laya", **ASKED, requested=0.0).value == 0.0


def test_the_configured_threshold_of_a_provider_wins_over_the_measured_one(tmp_path):
    found = thresholds(tmp_path, {"laya": 0.7})
    assert found.threshold_for(provider="laya", **ASKED).value == 0.7


def test_the_measured_threshold_wins_over_the_default(tmp_path):
    found = thresholds(tmp_path, threshold=0.3).threshold_for(provider="laya", **ASKED)
    assert (found.value, found.warnings) == (0.3, ())


@pytest.mark.parametrize(
    "changes",
    [{"provider": "other"}, {"option_count": 2}, {"option_count": 6}, {"question_type": "yes_no"}],
)
def test_other_questions_and_providers_have_the_default(tmp_path, changes):
    found = thresholds(tmp_path).threshold_for(**({"provider": "laya"} | ASKED | changes))
    assert (found.value, found.warnings) == (0.6, ())


@pytest.mark.parametrize("changes", [{"model": "laya-2"}, {"fit": None}, {"fit": "cal-b"}])
@pytest.mark.parametrize(("measured", "value"), [(0.8, 0.8), (0.3, 0.6)])
def test_a_threshold_of_another_model_or_fit_is_stale_and_never_lowers_the_bar(
    tmp_path, changes, measured, value
):
    loaded = thresholds(tmp_path, threshold=measured)
    found = loaded.threshold_for(provider="laya", **(ASKED | changes))
    assert (found.value, found.stale) == (value, True)
    assert "'laya-1' with cal-a" in found.warnings[0]


def test_each_model_of_a_provider_keeps_its_threshold(tmp_path):
    other = attrs.evolve(MEASURED, model="laya-2", threshold=0.7)
    for rows in ([MEASURED, other], [attrs.evolve(MEASURED, threshold=0.65)]):
        apply_thresholds(tmp_path, rows, NOW)
    found = Thresholds.load(tmp_path, 0.6, {})
    for model, value in (("laya-1", 0.65), ("laya-2", 0.7), ("laya-3", 0.7)):
        asked = ASKED | {"model": model}
        assert found.threshold_for(provider="laya", **asked).value == value


def test_what_a_later_version_wrote_is_kept_when_thresholds_are_applied(tmp_path):
    other = attrs.evolve(MEASURED, provider="other")
    path = apply_thresholds(tmp_path, [MEASURED, other], NOW)
    kept = json.loads(path.read_text())
    kept["measured_by"] = "9.0"
    for row in kept["thresholds"]:
        row["valid_until"] = "2030-01-01"
    path.write_text(json.dumps(kept))
    apply_thresholds(tmp_path, [attrs.evolve(MEASURED, threshold=0.7)], NOW)
    written = json.loads(path.read_text())
    assert written["measured_by"] == "9.0"
    rows = {row["provider"]: row for row in written["thresholds"]}
    assert rows["other"]["valid_until"] == "2030-01-01"
    # It was said of the measurement that is replaced.
    assert "valid_until" not in rows[MEASURED.provider]


def test_commands_that_apply_thresholds_at_once_lose_nothing(tmp_path):
    rows = [attrs.evolve(MEASURED, provider=f"p{number}") for number in range(16)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda row: apply_thresholds(tmp_path, [row], NOW), rows))
    assert set(Thresholds.load(tmp_path, 0.6, {}).measured.values()) == set(rows)


def test_without_a_file_the_default_counts(tmp_path):
    found = Thresholds.load(tmp_path, 0.6, {})
    assert found.problems == ()
    assert found.threshold_for(provider="laya", **ASKED).value == 0.6


@pytest.mark.parametrize("text", ["", "{", '{"version": 1, "created": "x", "thresholds": [{}]}'])
def test_a_corrupt_file_is_a_problem_and_accepts_nothing_more_than_it_may_have(tmp_path, text):
    (tmp_path / FILE_NAME).write_text(text)
    found = Thresholds.load(tmp_path, 0.6, {"typesafe": 0.7})
    assert found.problems[0].startswith("thresholds.json: not usable")
    told = found.threshold_for(provider="laya", **ASKED)
    assert (told.value, told.stale) == (1.0, True)
    assert "s1gw calibrate thresholds --apply" in told.warnings[0]
    assert found.threshold_for(provider="typesafe", **ASKED).value == 0.7
    assert found.threshold_for(provider="laya", requested=0.5, **ASKED).value == 0.5


def test_coverage_is_the_share_accepted():
    assert MEASURED.coverage == 0.75
