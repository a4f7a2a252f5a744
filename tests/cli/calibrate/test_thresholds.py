"""``s1gw calibrate thresholds``: measured, applied, and honest about what they rest on."""

import json

import pytest

from gateway_core.calibration import Thresholds


def test_thresholds_are_applied_and_then_in_force(run, labelled, tmp_path, options):
    path = labelled()
    arguments = ("calibrate", "thresholds", path, "--provider", "acme", "--max-error")
    run(*arguments, "5%", "--yes", code=1)
    found = run(*arguments, "0.4")
    assert "100.0%" in found.stdout
    state = tmp_path / "state"
    assert Thresholds.load(state, 0.6, {}).measured == {}
    run(*arguments, "40%", "--apply")
    (row,) = Thresholds.load(state, 0.6, {}).measured.values()
    assert (row.errors, row.accepted, row.threshold) == (60, 200, pytest.approx(0.98))
    reply = json.loads(run("decide", "Who?", *options, "--json").stdout)
    assert reply["threshold"] == pytest.approx(0.98)


def test_a_budget_that_nothing_keeps_says_what_it_would_take(run, labelled):
    arguments = ("calibrate", "thresholds", labelled(), "--provider", "acme", "--yes")
    found = run(*arguments, "--max-error", "1%", code=1)
    assert "no threshold for acme" in found.stderr
    assert "at least 299 accepted answers" in found.stderr


@pytest.mark.parametrize("budget", ["0", "1", "150%", "five", "-1%", "nan"])
def test_a_budget_is_a_share(run, labelled, budget):
    found = run("calibrate", "thresholds", labelled(), "--max-error", budget, code=2)
    assert "share between 0 and 1" in found.stderr


def test_what_a_fit_saw_is_no_test_of_it(run, labelled):
    run("calibrate", "fit", labelled(), "--provider", "acme", "--yes")
    measure = ("calibrate", "thresholds", labelled(), "--provider", "acme", "--max-error", "40%")
    assert "was made from these very examples" in run(*measure).stderr
    other = ("calibrate", "thresholds", labelled(190), "--provider", "acme", "--max-error", "40%")
    assert "was made from" not in run(*other).stderr


@pytest.mark.parametrize("command", [("report",), ("thresholds", "--max-error", "40%")])
def test_a_fit_that_cannot_be_read_is_told(run, labelled, tmp_path, command):
    run("calibrate", "fit", labelled(), "--provider", "acme", "--yes")
    (tmp_path / "state" / "calibration" / "broken.json").write_text("{")
    page = ("-o", str(tmp_path / "page.html")) if command == ("report",) else ()
    found = run("calibrate", *command, labelled(), "--provider", "acme", *page)
    assert "note: broken.json: not a usable fit file" in found.stderr
