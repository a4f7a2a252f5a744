"""``s1gw calibrate fit``: asking, resuming, refusing, and what is kept."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gateway_core.testing import Reply


def test_nothing_is_asked_before_the_cost_is_agreed_to(run, labelled, upstream, fits):
    found = run("calibrate", "fit", labelled(), "--provider", "acme", code=2)
    assert "acme (acme) is to be asked 200 questions of about" in found.stderr
    assert "stay on this machine" in found.stderr
    assert "--yes" in found.stderr
    assert len(upstream.requests) == 0
    assert fits() == ()


def test_a_fit_is_made_and_used(run, labelled, upstream, fits, options):
    found = run("calibrate", "fit", labelled(), "--provider", "acme", "--yes")
    assert "acme-1" in found.stdout
    assert len(upstream.requests) == 200
    (file,) = fits()
    (fit,) = file.fits
    assert (file.provider, fit.model, fit.bucket, fit.examples) == ("acme", "acme-1", "3-5", 200)
    assert fit.temperature > 2
    assert file.data_digest.startswith("sha256:")
    assert file.fitted_with.startswith("s1gw ")
    reply = json.loads(run("decide", "Who?", *options, "--json").stdout)
    assert reply["calibrated"]
    assert reply["calibration"]["id"] == file.id
    assert reply["confidence"] == pytest.approx(0.7, abs=0.03)


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
    assert "line 41: it is not JSON" in found.stderr
    assert "line 42: gold: 'c' is not among the options" in found.stderr
    run("calibrate", "fit", path, "--provider", "acme", "--yes", "--skip-bad")


@pytest.mark.parametrize("missing", ["numpy", "scipy"])
def test_without_the_extra_it_says_how_to_get_it(labelled, tmp_path, missing):
    code = (
        f"import sys; sys.modules['{missing}'] = None\n"
        "from gateway_core.cli import main; main(sys.argv[1:])"
    )
    command = [sys.executable, "-c", code, "calibrate", "fit", labelled(), "--provider", "acme"]
    environ = os.environ | {"S1GW_STATE_DIR": str(tmp_path)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environ)
    wanted = f"error: this needs {missing}: pip install 's1gw[calibration]'\n"
    assert (done.returncode, done.stderr) == (1, wanted)


def test_too_few_examples_make_no_fit(run, labelled, fits):
    found = run("calibrate", "fit", labelled(20), "--provider", "acme", "--yes", code=1)
    assert "at least 30 examples are needed" in found.stderr
    assert fits() == ()


@pytest.mark.parametrize("arguments", [(), ("FILE", "--from-log")])
def test_there_is_exactly_one_source(run, labelled, arguments):
    given = [labelled() if one == "FILE" else one for one in arguments]
    found = run("calibrate", "fit", *given, "--provider", "acme", code=2)
    assert "either a LABELLED file (JSONL or CSV) or --from-log" in found.stderr


def test_an_unknown_provider_is_refused(run, labelled):
    found = run("calibrate", "fit", labelled(), "--provider", "nobody", "--yes", code=1)
    assert "nobody" in found.stderr


def test_a_fit_stays_in_its_folder_whatever_the_provider_is_called(run, tmp_path, fits):
    row = {"provider": "../../x", "model": "m", "probabilities": [0.7, 0.3]}
    rows = [row | {"request_id": str(number), "gold": number % 2} for number in range(40)]
    path = tmp_path / "recorded.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    run("calibrate", "fit", str(path), "--provider", "../../x", "--force")
    (file,) = fits()
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
