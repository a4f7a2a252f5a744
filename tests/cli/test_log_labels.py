"""Labels of many calls in one file."""

import asyncio
import json

import pytest
from click.testing import CliRunner

from gateway_core.cli import main
from gateway_core.decisionlog.reader import LogReader
from gateway_core.gateway import Gateway
from gateway_core.testing import Reply, ScriptedUpstream


@pytest.fixture
def run(tmp_path):
    """Run ``s1gw`` over a log of four decisions."""
    with ScriptedUpstream() as upstream:
        choice = {"type": "choice", "choice": "a", "probabilities": {"a": 0.9, "b": 0.1}}
        upstream.answer(Reply(body={"model": "m-1", "answers": {"decision": choice}}))
        config = tmp_path / "config.toml"
        config.write_text(
            '[decide]\nchain = ["acme"]\n[providers.acme]\ndialect = "generic-systemone"\n'
            f'base_url = "{upstream.url}"\nmodels = ["acme"]\n'
            "[decision_log]\nenabled = true\ncontent = true\n"
        )
        state = tmp_path / "state"
        environ = {"S1GW_CONFIG": str(config), "S1GW_STATE_DIR": str(state)}

        def invoke(*arguments, code=0):
            found = CliRunner().invoke(main, arguments, env=environ, catch_exceptions=False)
            assert found.exit_code == code, found.output
            return found

        asyncio.run(decide_four(config, environ))
        yield invoke


async def decide_four(config, environ):
    async with Gateway.open(config, environ=environ) as gateway:
        for number in range(4):
            asked = {"question": "Which?", "options": ["a", "b"], "request_id": f"r-{number}"}
            await gateway.decide(asked)


@pytest.fixture
def golds(tmp_path):
    """Return the labels by request id."""

    def read():
        with LogReader(tmp_path / "state" / "decisions.sqlite3") as reader:
            return {entry["request_id"]: entry["gold"] for entry in reader.entries()}

    return read


GIVEN = {f"r-{number}": "ab"[number % 2] for number in range(4)}
JSONL = "".join(json.dumps({"request_id": key, "gold": gold}) + "\n" for key, gold in GIVEN.items())
ROWS = "".join(f"{key},{gold}\n" for key, gold in GIVEN.items())


SWAPPED = "".join(f"{gold};{key}\n" for key, gold in GIVEN.items())


@pytest.mark.parametrize("text", [f"request_id,gold\n{ROWS}", f"gold;request_id\n{SWAPPED}", JSONL])
def test_the_labels_of_a_file_are_noted(run, golds, tmp_path, text):
    path = tmp_path / "labels"
    path.write_text(text, encoding="utf-8-sig")
    assert "4 labels noted." in run("log", "label", "--file", str(path)).stdout
    assert golds() == GIVEN


def test_one_bad_line_leaves_the_log_as_it_was_unless_it_may_be_skipped(run, golds, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(f"request_id,gold\n{ROWS}r-9,a\nr-1,c\n")
    told = run("log", "label", "--file", str(path), code=1).stderr
    assert "line 6: request_id: the log holds no request 'r-9'" in told
    assert "line 7: gold: 'c' is not among the request's options" in told
    assert set(golds().values()) == {None}
    skipped = run("log", "label", "--file", str(path), "--skip-bad").stdout
    assert "4 labels noted, 2 left out." in skipped
    assert golds() == GIVEN


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,gold\nr-1,a\n", "names no column request_id"),
        ("request_id,gold\nr-1,\n", "line 2: gold: missing"),
        ('{"request_id": "r-1"}\n', "line 1: gold: missing"),
        ('{"request_id"\n', "line 1: not JSON"),
    ],
)
def test_a_file_that_lacks_something_is_refused(run, tmp_path, text, said):
    path = tmp_path / "labels.csv"
    path.write_text(text)
    assert said in run("log", "label", "--file", str(path), code=1).stderr


@pytest.mark.parametrize("arguments", [(), ("r-1",), ("r-1", "a", "--file", __file__)])
def test_one_call_or_a_file_is_labelled(run, arguments):
    assert "--file" in run("log", "label", *arguments, code=2).stderr
