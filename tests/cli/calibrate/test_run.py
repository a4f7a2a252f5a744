"""``s1gw calibrate run``: from labelled answers to evidence in force, or nothing is."""

import json
import random

import pytest

from gateway_core.calibration import Thresholds


@pytest.fixture
def path(tmp_path):
    """Write answers of a provider that is two and a half times too sure."""
    dice, rows = random.Random(3), []
    for number in range(1500):
        known = max(dice.betavariate(6, 1), 0.51)
        odds = (known / (1 - known)) ** 2.5
        told = odds / (1 + odds)
        row = {"question": f"Question {number}?", "options": ["a", "b"], "provider": "acme"}
        gold = "a" if dice.random() < known else "b"
        rows.append(row | {"model": "m-1", "gold": gold, "probabilities": [told, 1 - told]})
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(file)


def test_one_command_puts_a_tested_threshold_and_its_fit_in_force(run, path, tmp_path):
    found = run("calibrate", "run", path, "--provider", "acme", "--budget", "10%")
    assert "answers to fit on" in found.stdout
    assert "was made from" not in found.stderr
    (row,) = Thresholds.load(tmp_path / "state", 0.6, {}).measured.values()
    assert row.max_error == 0.1
    assert row.fit is not None
    assert row.calibration.temperature == pytest.approx(2.5, rel=0.2)
    assert str(row.threshold) in found.stdout
    assert "in force" in run("calibrate", "list").stdout
    assert "THRESHOLD FOR" in found.stdout


def test_a_dry_run_and_a_budget_that_cannot_be_kept_put_nothing_in_force(run, path, fits, tmp_path):
    arguments = ("calibrate", "run", path, "--provider", "acme", "--budget")
    run(*arguments, "10%", "--dry-run")
    told = run(*arguments, "0.1%", code=1).stderr
    assert "Nothing was put in force" in told
    assert fits() == ()
    assert Thresholds.load(tmp_path / "state", 0.6, {}).measured == {}


def test_the_parts_have_no_question_in_common(make_split):
    parts = make_split(1000)
    keys = [{one.key for one in part} for part in (parts.fit, parts.threshold, parts.test)]
    assert sum(map(len, keys)) == len(set.union(*keys)) == 1000
    assert 340 < len(keys[0]) < 460
    assert 340 < len(keys[1]) < 460
    again = make_split(1500)
    assert keys[0] <= {one.key for one in again.fit}


@pytest.fixture
def make_split():
    from gateway_core.evaluation.example import Example
    from gateway_core.evaluation.split import split

    def made(count):
        usual = {"provider": "p", "model": "m", "question_type": "options", "options": ("a", "b")}
        return split(
            Example(key=str(n), probabilities=(0.9, 0.1), gold=0, **usual) for n in range(count)
        )

    return made
