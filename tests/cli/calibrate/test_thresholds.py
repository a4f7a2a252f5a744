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
    assert "was made from 200 of these 200 examples" in run(*measure).stderr
    other = ("calibrate", "thresholds", labelled(190), "--provider", "acme", "--max-error", "40%")
    assert "was made from 190 of these 190 examples" in run(*other).stderr


def recorded(number, probability, gold, **changes):
    """A line with a question and its answer."""
    options = ["a", "b"]
    row = {"question": f"Question {number}?", "options": options, "gold": options[gold]}
    spread = dict(zip(options, (probability, 1 - probability), strict=True))
    return {**row, "probabilities": spread, "provider": "acme", "model": "m-1", **changes}


def over_sure(count, seed, **changes):
    """Lines of a provider that says 95% and is right in 80 of 100 cases."""
    return [
        recorded(f"{seed}-{number}", 0.95, int(number % 5 == 0), **changes)
        for number in range(count)
    ]


@pytest.fixture
def lines(tmp_path):
    """Write lines to a file and return its path."""

    def write(rows, name="rows.jsonl"):
        path = tmp_path / name
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        return str(path)

    return write


def test_a_question_that_is_typed_otherwise_is_known_again(run, lines):
    rows = over_sure(100, 1)
    run("calibrate", "fit", lines(rows), "--provider", "acme")
    others = [
        {**row, "question": f"  {row['question'].upper()} ", "options": row["options"][::-1]}
        for row in rows[:40]
    ]
    measure = ("calibrate", "thresholds", lines(others + over_sure(60, 2)), "--max-error", "40%")
    assert "was made from 40 of these 100 examples" in run(*measure).stderr
    fresh = ("calibrate", "thresholds", lines(over_sure(60, 2)), "--max-error", "40%")
    assert "was made from" not in run(*fresh).stderr


def test_labels_that_contradict_each_other_are_told_and_their_order_does_not_matter(run, lines):
    rows = over_sure(100, 1)
    contrary = [{**row, "gold": "b"} for row in rows if row["gold"] == "a"][:10]
    tables = []
    for joined in (rows + contrary, contrary + rows):
        found = run("calibrate", "thresholds", lines(joined), "--max-error", "50%")
        assert "note: 10 questions have labels that contradict each other" in found.stderr
        tables.append(found.stdout)
    assert tables[0] == tables[1]
    assert "30 of 100" in tables[0]


def test_a_new_fit_never_strands_a_threshold(run, lines, options):
    fit = ("calibrate", "fit", lines(over_sure(200, 1)), "--provider", "acme")
    run(*fit)
    measure = ("calibrate", "thresholds", lines(over_sure(200, 2)), "--max-error", "40%", "--apply")
    run(*measure)
    told = run("calibrate", "fit", lines(over_sure(60, 3)), "--provider", "acme")
    assert "the new fit waits until s1gw calibrate thresholds --apply" in told.stderr
    assert "waits for a threshold of its own" in run("calibrate", "list").stdout
    run(*measure)
    (row,) = json.loads(run("calibrate", "list", "--json").stdout)["thresholds"]
    assert row["calibration"]["examples"] == 60
    assert "is in force again" in run("calibrate", "rollback", row["name"]).stdout
    (row,) = json.loads(run("calibrate", "list", "--json").stdout)["thresholds"]
    assert row["calibration"]["examples"] == 200


def test_what_is_in_force_is_listed_shown_and_removed(run, lines):
    assert "No measured threshold is in force" in run("calibrate", "list").stdout
    run("calibrate", "fit", lines(over_sure(200, 1)), "--provider", "acme")
    run("calibrate", "thresholds", lines(over_sure(200, 2)), "--max-error", "40%", "--apply")
    report = json.loads(run("capabilities", "--json").stdout)
    (row,) = report["evidence"]
    assert (row["name"], row["max_error"], row["stale"]) == ("acme/m-1/options/2", 0.4, None)
    assert str(row["threshold"]) in run("capabilities").stdout
    assert [fit["in_force"] for fit in report["calibration"]] == [True]
    shown = json.loads(run("calibrate", "show", row["name"]).stdout)
    assert shown["threshold"] == row["threshold"]
    fit_id = report["calibration"][0]["id"]
    run("calibrate", "rm", row["name"], fit_id)
    after = json.loads(run("calibrate", "list", "--json").stdout)
    assert after == {"thresholds": [], "fits": []}
    assert "there is no fit or threshold 'x'" in run("calibrate", "rm", "x", code=1).stderr
    assert "nothing was in force before" in run("calibrate", "rollback", "x", code=1).stderr


def test_a_smaller_fit_that_replaces_a_larger_one_is_told(run, lines):
    run("calibrate", "fit", lines(over_sure(200, 1)), "--provider", "acme")
    told = run("calibrate", "fit", lines(over_sure(60, 3)), "--provider", "acme").stderr
    assert "which rests on more examples: 200 against 60" in told


def test_without_a_budget_a_table_shows_which_can_be_kept(run, lines):
    found = run("calibrate", "thresholds", lines(over_sure(300, 1))).stdout.splitlines()
    assert found[0].split()[4:] == ["BUDGET", "THRESHOLD", "COVERAGE", "BOUND", "LABELS", "NEEDED"]
    assert len(found) == 7
    assert "no number will do" in found[1]
    wanted = run("calibrate", "thresholds", lines(over_sure(300, 1)), "--apply", code=2).stderr
    assert "--apply needs --max-error" in wanted


def test_a_refusal_names_its_true_cause(run, lines):
    found = run("calibrate", "thresholds", lines(over_sure(300, 1)), "--max-error", "5%", code=1)
    assert "of the 300 surest, 60 were wrong, which may be up to 24.2%" in found.stderr
    assert "more labels will not help" in found.stderr


@pytest.mark.parametrize("command", [("report",), ("thresholds", "--max-error", "40%")])
def test_a_fit_that_cannot_be_read_is_told(run, labelled, tmp_path, command):
    run("calibrate", "fit", labelled(), "--provider", "acme", "--yes")
    (tmp_path / "state" / "calibration" / "broken.json").write_text("{")
    page = ("-o", str(tmp_path / "page.html")) if command == ("report",) else ()
    found = run("calibrate", *command, labelled(), "--provider", "acme", *page)
    assert "note: broken.json: not a usable fit file" in found.stderr
