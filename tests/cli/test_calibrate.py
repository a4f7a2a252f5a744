"""``s1gw calibrate``: from labelled lines to fits, thresholds and a page."""

import json
import re
import resource
from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway_core.calibration import Calibrator, Thresholds
from gateway_core.cli import main
from gateway_core.testing import Reply, ScriptedUpstream

OPTIONS = ["billing", "sales", "tech"]


@pytest.fixture
def upstream():
    """Serve a provider that is always 98% sure of billing."""
    with ScriptedUpstream() as server:
        spread = dict(zip(OPTIONS, (0.98, 0.01, 0.01), strict=True))
        choice = {"type": "choice", "choice": "billing", "probabilities": spread}
        server.answer(Reply(body={"model": "acme-1", "answers": {"decision": choice}}))
        yield server


@pytest.fixture
def run(tmp_path, upstream):
    """Run ``s1gw`` with a configuration and a state of its own."""
    config = tmp_path / "config.toml"
    config.write_text(
        '[decide]\nchain = ["acme"]\n[providers.acme]\ndialect = "generic-systemone"\n'
        f'base_url = "{upstream.url}"\nmodels = ["acme"]\n'
        "[decision_log]\nenabled = true\ncontent = true\n"
    )
    state = tmp_path / "state"

    def invoke(*arguments, code=0):
        environ = {"S1GW_CONFIG": str(config), "S1GW_STATE_DIR": str(state)}
        found = CliRunner().invoke(main, arguments, env=environ, catch_exceptions=False)
        assert found.exit_code == code, found.output
        return found

    return invoke


@pytest.fixture
def labelled(tmp_path):
    """Write questions of which the provider gets seven in ten right."""

    def write(count=200, *more):
        rows = [
            {
                "question": f"Ticket {number}: who takes it?",
                "options": OPTIONS,
                "gold": "billing" if number % 10 < 7 else "tech",
            }
            for number in range(count)
        ]
        lines = [json.dumps(row) for row in rows] + list(more)
        path = tmp_path / "labelled.jsonl"
        path.write_text("\n".join(lines), encoding="utf-8")
        return str(path)

    return write


def fits(tmp_path):
    return Calibrator.load(tmp_path / "state" / "calibration").fits


def test_nothing_is_asked_before_the_cost_is_agreed_to(run, labelled, upstream, tmp_path):
    found = run("calibrate", "fit", labelled(), "--provider", "acme", code=2)
    assert "acme (acme) is to be asked 200 questions of about" in found.stderr
    assert "stay on this machine" in found.stderr
    assert "--yes" in found.stderr
    assert len(upstream.requests) == 0
    assert fits(tmp_path) == ()


def test_a_fit_is_made_and_used(run, labelled, upstream, tmp_path):
    found = run("calibrate", "fit", labelled(), "--provider", "acme", "--yes")
    assert "acme-1" in found.stdout
    assert len(upstream.requests) == 200
    (file,) = fits(tmp_path)
    (fit,) = file.fits
    assert (file.provider, fit.model, fit.bucket, fit.examples) == ("acme", "acme-1", "3-5", 200)
    assert fit.temperature > 2
    assert file.data_digest.startswith("sha256:")
    assert file.fitted_with.startswith("s1gw ")
    reply = json.loads(run("decide", "Who?", *options(), "--json").stdout)
    assert reply["calibrated"]
    assert reply["calibration"]["id"] == file.id
    assert reply["confidence"] == pytest.approx(0.7, abs=0.03)


def options():
    return [argument for option in OPTIONS for argument in ("-o", option)]


def test_what_was_answered_is_not_asked_again(run, labelled, upstream):
    run("calibrate", "fit", labelled(100), "--provider", "acme", "--yes")
    found = run("calibrate", "fit", labelled(150), "--provider", "acme", "--yes")
    assert "asked 50 questions" in found.stderr
    assert len(upstream.requests) == 150
    run("calibrate", "fit", labelled(150), "--provider", "acme")


def test_answers_from_before_are_told_and_asked_again_once_deleted(run, labelled, upstream):
    arguments = ("calibrate", "fit", labelled(40), "--provider", "acme", "--yes")
    assert "from before" not in run(*arguments).stderr
    told = run(*arguments).stderr
    path = re.search(r"note: 40 answers are from before, in (\S+); delete it", told)[1]
    Path(path).unlink()
    run(*arguments)
    assert len(upstream.requests) == 80


def test_the_model_to_ask_can_be_named(run, labelled, upstream):
    run("calibrate", "fit", labelled(40), "--provider", "acme", "--model", "acme-large", "--yes")
    assert {request.json()["model"] for request in upstream.requests} == {"acme-large"}


def test_failures_are_told_and_the_answers_kept(run, labelled, upstream):
    upstream.queue(*[Reply(status=503, body={"detail": "busy"})] * 3)
    arguments = ("calibrate", "fit", labelled(60), "--provider", "acme", "--concurrency", "1")
    found = run(*arguments, "--yes")
    assert "3 questions failed" in found.stderr
    assert len(upstream.requests) == 60
    run(*arguments, "--yes")
    assert len(upstream.requests) == 63


def test_bad_lines_are_named_and_skipped_only_when_asked(run, labelled):
    path = labelled(40, "{", json.dumps({"question": "?", "options": ["a", "b"], "gold": "c"}))
    found = run("calibrate", "fit", path, "--provider", "acme", "--yes", code=1)
    assert "line 41: not JSON" in found.stderr
    assert "line 42: gold: 'c' is not among the options" in found.stderr
    run("calibrate", "fit", path, "--provider", "acme", "--yes", "--skip-bad")


def test_too_few_examples_make_no_fit(run, labelled, tmp_path):
    found = run("calibrate", "fit", labelled(20), "--provider", "acme", "--yes", code=1)
    assert "at least 30 examples are needed" in found.stderr
    assert fits(tmp_path) == ()


@pytest.mark.parametrize("arguments", [(), ("FILE", "--from-log")])
def test_there_is_exactly_one_source(run, labelled, arguments):
    given = [labelled() if one == "FILE" else one for one in arguments]
    found = run("calibrate", "fit", *given, "--provider", "acme", code=2)
    assert "either a LABELLED.jsonl file or --from-log" in found.stderr


def test_an_unknown_provider_is_refused(run, labelled):
    found = run("calibrate", "fit", labelled(), "--provider", "nobody", "--yes", code=1)
    assert "nobody" in found.stderr


def test_thresholds_are_applied_and_then_in_force(run, labelled, tmp_path):
    path = labelled()
    arguments = ("calibrate", "thresholds", path, "--provider", "acme", "--max-error")
    run(*arguments, "5%", "--yes", code=1)
    found = run(*arguments, "0.4")
    assert "100.0 %" in found.stdout
    state = tmp_path / "state"
    assert Thresholds.load(state, 0.6, {}).measured == {}
    run(*arguments, "40%", "--apply")
    (row,) = Thresholds.load(state, 0.6, {}).measured.values()
    assert (row.errors, row.accepted, row.threshold) == (60, 200, pytest.approx(0.98))
    reply = json.loads(run("decide", "Who?", *options(), "--json").stdout)
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


def test_a_report_is_a_table_and_a_page(run, labelled, tmp_path):
    out = tmp_path / "page.html"
    path = labelled(60)
    found = run("calibrate", "report", path, "--provider", "acme", "--yes", "-o", str(out))
    assert "70.0%" in found.stdout
    assert "<h2>acme</h2>" in out.read_text(encoding="utf-8")


def test_a_report_that_cannot_be_written_leaves_the_last_one(run, labelled, tmp_path):
    page = tmp_path / "page.html"
    arguments = ("calibrate", "report", labelled(40), "--provider", "acme", "--yes", "-o")
    run(*arguments, str(page))
    before = page.read_text(encoding="utf-8")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
    try:
        found = run(*arguments, str(page), code=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert f"{page} cannot be written: File too large" in found.stderr
    assert page.read_text(encoding="utf-8") == before
    assert [path.name for path in tmp_path.glob("tmp*")] == []


@pytest.mark.parametrize("command", [("report",), ("thresholds", "--max-error", "40%")])
def test_a_fit_that_cannot_be_read_is_told(run, labelled, tmp_path, command):
    run("calibrate", "fit", labelled(), "--provider", "acme", "--yes")
    (tmp_path / "state" / "calibration" / "broken.json").write_text("{")
    page = ("-o", str(tmp_path / "page.html")) if command == ("report",) else ()
    found = run("calibrate", *command, labelled(), "--provider", "acme", *page)
    assert "note: broken.json: not a usable fit file" in found.stderr


def test_what_a_fit_saw_is_no_test_of_it(run, labelled, tmp_path):
    run("calibrate", "fit", labelled(), "--provider", "acme", "--yes")
    measure = ("calibrate", "thresholds", labelled(), "--provider", "acme", "--max-error", "40%")
    assert "was made from these very examples" in run(*measure).stderr
    other = ("calibrate", "thresholds", labelled(190), "--provider", "acme", "--max-error", "40%")
    assert "was made from" not in run(*other).stderr


def test_a_report_tells_which_of_two_is_right_more_often(run, tmp_path):
    rows = [
        {"request_id": str(number), "provider": name, "model": "m", "probabilities": spread}
        for number in range(50)
        for name, spread in (("first", [0.9, 0.1]), ("second", [0.2, 0.8]))
    ]
    path = tmp_path / "recorded.jsonl"
    path.write_text("\n".join(json.dumps(row | {"gold": 0}) for row in rows))
    found = run("calibrate", "report", str(path), "-o", str(tmp_path / "page.html")).stdout
    assert "first against second: +100.0 points of accuracy (+100.0 to +100.0) on the 50" in found


def test_logged_and_labelled_decisions_are_examples(run, upstream, tmp_path):
    for number in range(40):
        asked = ("decide", f"Ticket {number}?", *options(), "--json")
        reply = json.loads(run(*asked).stdout)
        run("log", "label", reply["request_id"], "billing" if number % 3 else "tech")
    run("calibrate", "fit", "--from-log", "--provider", "acme")
    assert len(upstream.requests) == 40
    assert fits(tmp_path)[0].fits[0].examples == 40
    exported = tmp_path / "log.jsonl"
    run("log", "export", "-o", str(exported))
    run("calibrate", "fit", str(exported), "--provider", "acme")
    assert len({file.data_digest for file in fits(tmp_path)}) == 1


def test_logged_questions_are_put_to_another_provider(run, upstream, tmp_path):
    with (tmp_path / "config.toml").open("a") as config:
        config.write(
            '[providers.other]\ndialect = "generic-systemone"\n'
            f'base_url = "{upstream.url}"\nmodels = ["other-model"]\n'
        )
    for number in range(5):
        reply = json.loads(run("decide", f"Ticket {number}?", *options(), "--json").stdout)
        run("log", "label", reply["request_id"], "billing")
    asked = ("calibrate", "report", "--from-log", "--provider", "acme", "--provider", "other")
    page = ("-o", str(tmp_path / "page.html"))
    assert "other (other-model) is to be asked 5 questions" in run(*asked, *page, code=2).stderr
    assert "acme against other: +0.0 points" in run(*asked, *page, "--yes").stdout
    assert len(upstream.requests) == 10


def test_a_provider_that_names_no_model_is_fitted_for_the_one_it_was_asked_for(
    run, upstream, tmp_path
):
    spread = dict(zip(OPTIONS, (0.98, 0.01, 0.01), strict=True))
    choice = {"type": "choice", "choice": "billing", "probabilities": spread}
    upstream.answer(Reply(body={"answers": {"decision": choice}}))
    for number in range(40):
        reply = json.loads(run("decide", f"Ticket {number}?", *options(), "--json").stdout)
        assert reply["model"] is None
        run("log", "label", reply["request_id"], "billing" if number % 3 else "tech")
    run("calibrate", "fit", "--from-log", "--provider", "acme")
    (file,) = fits(tmp_path)
    assert [fit.model for fit in file.fits] == ["acme"]
    reply = json.loads(run("decide", "Another?", *options(), "--json").stdout)
    assert reply["calibration"]["id"] == file.id


def test_a_fit_stays_in_its_folder_whatever_the_provider_is_called(run, tmp_path):
    row = {"provider": "../../x", "model": "m", "probabilities": [0.7, 0.3]}
    rows = [row | {"request_id": str(number), "gold": number % 2} for number in range(40)]
    path = tmp_path / "recorded.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    run("calibrate", "fit", str(path), "--provider", "../../x", "--force")
    (file,) = fits(tmp_path)
    assert file.provider == "../../x"


def test_a_state_that_cannot_be_used_is_told(run, labelled, tmp_path):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "thresholds.json").write_text("{")
    arguments = ("calibrate", "thresholds", labelled(), "--provider", "acme", "--yes")
    found = run(*arguments, "--max-error", "40%", "--apply", code=1)
    assert "thresholds.json: not usable" in found.stderr
    (tmp_path / "state" / "calibration" / "answers").rename(tmp_path / "gone")
    (tmp_path / "state" / "calibration" / "answers").touch()
    assert "answers" in run(*arguments, "--max-error", "40%", code=1).stderr
