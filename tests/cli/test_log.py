"""``s1gw log`` and ``s1gw compare``: reading and labelling what was decided."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway_core.cli import main
from gateway_core.decisionlog.entry import Entry, Role
from gateway_core.decisionlog.writer import DecisionLog
from gateway_core.wire.question import Question

QUESTION = Question(text="Who?", options=("sales", "billing"), context={"plan": "pro"})


def entry(request_id, decision=1, **changes):
    spread = (0.2, 0.8) if decision else (0.8, 0.2)
    usual = {"status": "decided", "provider": "acme", "model": "m", "latency_ms": 5.0}
    answer = {"probabilities": spread, "decision": decision, "confidence": 0.8}
    return Entry(request_id=request_id, question=QUESTION, **(usual | answer | changes))


@pytest.fixture
def run(tmp_path):
    """Run ``s1gw`` over a log with the given entries."""

    def invoke(*arguments, entries=(), code=0):
        if entries:
            path = tmp_path / "decisions.sqlite3"
            log = DecisionLog(path, content=True, max_bytes=1 << 20, max_age_days=9)
            for one in entries:
                log.add(one)
            log.close()
        environ = {"S1GW_CONFIG": str(tmp_path / "c.toml"), "S1GW_STATE_DIR": str(tmp_path)}
        (tmp_path / "c.toml").touch()
        found = CliRunner().invoke(main, arguments, env=environ, catch_exceptions=False)
        assert found.exit_code == code, found.output
        return found

    return invoke


def test_tail_shows_the_last_decisions(run):
    entries = [entry("r1"), entry("r2"), entry("r3", 0, role=Role.SHADOW, provider="other")]
    lines = run("log", "tail", "-n", "2", entries=entries).stdout.splitlines()
    assert [line.split()[2] for line in lines[1:]] == ["r2", "r3"]
    assert "other (shadow)" in lines[2]
    found = json.loads(run("log", "tail", "--json").stdout)
    assert [one["decision"] for one in found] == ["billing", "billing", "sales"]


def test_show_tells_all_of_one_call(run):
    entries = [entry("r1"), entry("r1", 0, role=Role.SHADOW, provider="other")]
    found = run("log", "show", "r1", entries=entries).stdout
    assert "chain: acme" in found
    assert "shadow: other" in found
    assert '{"plan": "pro"}' in found


def test_an_unknown_request_is_told(run):
    found = run("log", "show", "nope", entries=[entry("r1")], code=1)
    assert "no request 'nope'" in found.stderr


def test_a_label_is_kept_and_a_wrong_one_refused(run):
    run("log", "label", "r1", "sales", entries=[entry("r1")])
    assert json.loads(run("log", "show", "r1", "--json").stdout)[0]["gold"] == "sales"
    assert "sales, billing" in run("log", "label", "r1", "tech", code=1).stderr


def test_export_as_jsonl_and_csv_holds_the_same(run, tmp_path):
    entries = [entry("r1"), entry("r2", 0, confidence=None)]
    lines = run("log", "export", entries=entries).stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    table = run("log", "export", "--format", "csv").stdout
    for row, cells in zip(rows, csv.DictReader(io.StringIO(table)), strict=True):
        assert list(row) == list(cells)
        assert json.loads(cells["probabilities"]) == row["probabilities"]
        assert cells["request_id"] == row["request_id"]
        assert cells["confidence"] == ("" if row["confidence"] is None else "0.8")
    out = tmp_path / "out.jsonl"
    run("log", "export", "-o", str(out))
    assert out.read_text().splitlines() == lines


def test_what_a_spreadsheet_would_run_is_harmless_in_csv_and_whole_in_jsonl(run):
    entries = [entry(text) for text in ("=1+1", "+1", "-1", "@now", "\tx", "plain")]
    table = run("log", "export", "--format", "csv", entries=entries).stdout
    cells = [row["request_id"] for row in csv.DictReader(io.StringIO(table))]
    assert cells == ["'=1+1", "'+1", "'-1", "'@now", "'\tx", "plain"]
    lines = run("log", "export").stdout.splitlines()
    assert [json.loads(line)["request_id"] for line in lines] == [one.request_id for one in entries]


def test_every_entry_says_whether_it_was_calibrated(run):
    entries = [entry("r1"), entry("r2", fit="fit-1", temperature=2.0)]
    lines = run("log", "export", entries=entries).stdout.splitlines()
    assert [json.loads(line)["calibrated"] for line in lines] == [False, True]


@pytest.fixture
def following(tmp_path, run):
    """Start ``s1gw log tail --follow`` over a log with one entry."""
    run("log", "tail", entries=[entry("r1")])
    environ = os.environ | {
        "S1GW_CONFIG": str(tmp_path / "c.toml"),
        "S1GW_STATE_DIR": str(tmp_path),
    }
    command = [str(Path(sys.executable).with_name("s1gw")), "log", "tail", "--follow"]
    started = []

    def start(*arguments):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        started.append(subprocess.Popen([*command, *arguments], env=environ, **pipes))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_following_prints_what_comes_until_it_is_interrupted(run, following):
    process = following("--json")
    assert json.loads(process.stdout.readline())["request_id"] == "r1"
    for number in ("r2", "r3"):
        run("log", "tail", entries=[entry(number)])
        assert json.loads(process.stdout.readline())["request_id"] == number
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=10) == ("", "")
    assert process.returncode == 0


def test_following_prints_one_table(run, following):
    process = following()
    heading, first = (process.stdout.readline() for _ in range(2))
    run("log", "tail", entries=[entry("r2")])
    assert heading.startswith("WHEN (UTC)")
    assert process.stdout.readline()[20:] == first[20:].replace("r1", "r2")


def test_following_ends_when_nobody_reads_on(following):
    process = following("--json")
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=10) == 0
    assert process.stderr.read() == ""


def test_export_to_where_nothing_can_be_written_is_told(run, tmp_path):
    found = run("log", "export", "-o", "/nowhere/x", entries=[entry("r1")], code=2)
    assert "cannot be written" in found.stderr


def test_without_a_log_it_says_how_to_get_one(run):
    assert "decision_log.enabled = true" in run("log", "tail", code=1).stderr


def compared(count=40):
    for number in range(count):
        yield entry(f"r{number}")
        other = {"provider": "other", "role": Role.SHADOW, "latency_ms": 50.0}
        yield entry(f"r{number}", int(number % 4 > 0), **other)


def test_two_providers_are_compared_on_what_both_were_asked(run):
    entries = [*compared(), entry("alone"), entry("lost", None, provider="other")]
    for one in range(20):
        run("log", "label", f"r{one}", "billing", entries=entries if one == 0 else ())
    found = json.loads(run("compare", "acme", "other", "--json").stdout)
    assert (found["pairs"], found["labelled"]) == (40, 20)
    assert found["agreement"]["value"] == pytest.approx(0.75)
    assert found["agreement"]["low"] < 0.75 < found["agreement"]["high"]
    assert found["first"]["accuracy"]["value"] == 1.0
    assert found["second"]["accuracy"]["value"] == pytest.approx(0.75)
    assert found["difference"]["value"] == pytest.approx(0.25)
    assert found["difference"]["low"] > 0
    assert (found["first"]["latency_ms"], found["second"]["latency_ms"]) == (5.0, 50.0)
    assert (found["first"]["answered"], found["second"]["failed"]) == (41, 1)
    assert len(found["disagreements"]) == 10
    shown = run("compare", "acme", "other").stdout
    assert "They agree on 75.0%" in shown
    assert "r36" in shown


def test_providers_that_never_met_cannot_be_compared(run):
    found = run("compare", "acme", "other", entries=[entry("r1")]).stdout
    assert "no question that both answered" in found


def test_the_commands_of_the_log_import_no_numerics(tmp_path):
    code = (
        "import sys; from gateway_core.cli import main\n"
        "try: main(['calibrate', '--help'])\nexcept SystemExit: pass\n"
        "import gateway_core.cli.log, gateway_core.cli.compare\n"
        "assert not {'numpy', 'scipy', 'httpx', 'mcp'} & set(sys.modules), sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(tmp_path))
