"""``s1gw decide``: real decisions, their exit codes, and what a person sees."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from gateway_core.api import PROVIDERS_GROUP
from gateway_core.cli.terminal import bar, plain
from gateway_core.testing import Gate, Received, Reply, ScriptedUpstream

TICKET = json.dumps({"text": "I was charged twice on my credit card this month, refund me"})
A_OR_B = ("-o", "a", "-o", "b")
TEAMS = ("-o", "billing and payments", "-o", "technical support")


@pytest.fixture
def upstream(write_config, monkeypatch) -> Iterator[ScriptedUpstream]:
    """A System One server as the only provider of the chain."""
    with ScriptedUpstream() as server:
        write_config(
            "[decide]\nchain = ['mine']\n[providers.mine]\ndialect = 'generic-systemone'\n"
            f"base_url = '{server.url}'\nmodels = ['m']\n"
        )
        yield server


def choice(**probabilities: float) -> Reply:
    best = max(probabilities, key=probabilities.__getitem__)
    answer = {"type": "choice", "choice": best, "probabilities": probabilities}
    return Reply(body={"model": "m-1", "answers": {"decision": answer}, "usage": {}})


def test_a_fresh_machine_makes_a_real_decision(spawn, home) -> None:
    done = spawn("decide", "Which team?", *TEAMS, "--context", TICKET, "--min-confidence", "0")

    assert done.returncode == 0
    assert "  billing and payments  with confidence" in done.stdout
    assert "by local" in done.stdout
    assert "█" in done.stdout
    assert "\x1b[" not in done.stdout


def test_json_is_the_reply_object_and_nothing_else(spawn) -> None:
    done = spawn("decide", "Which team?", *TEAMS, "--context", TICKET, "--json")
    reply = json.loads(done.stdout)

    assert reply["provider"] == "local"
    assert reply["schema_version"] == "1"
    assert done.returncode == {"decided": 0, "abstained": 3}[reply["status"]]


PICKER = """
from gateway_core import Capabilities, DecisionReply, Format, hookimpl

class Picker:
    def __init__(self, context): ...

    @hookimpl
    def capabilities(self):
        formats = frozenset({Format.SYSTEMONE})
        return Capabilities(formats=formats, keyless=True, remote=False, probabilities="none")

    @hookimpl
    def build_url(self, operation):
        return "inproc://picker"

    @hookimpl
    async def decide(self, request):
        return DecisionReply(body=b'{"answers": {"decision": {"type": "choice", "choice": "red"}}}')
"""


def test_a_pick_without_probabilities_says_that_nobody_knows_how_sure_it_is(
    run, site, write_config
) -> None:
    site.module("picker_plugin", PICKER)
    site.distribution("picker", {PROVIDERS_GROUP: {"picker": "picker_plugin:Picker"}})
    write_config("[decide]\nchain = ['picker']\nthreshold = 0\n")

    result = run("decide", "Which colour?", "-o", "red", "-o", "blue")

    assert result.exit_code == 0, result.output
    assert "  red  with no known confidence, by picker in" in result.stdout


def test_a_decision_ends_with_0_and_shows_bars(run, upstream) -> None:
    upstream.answer(choice(red=0.9, blue=0.1))

    result = run("decide", "Which colour?", "-o", "red", "-o", "blue")

    assert result.exit_code == 0
    assert " 90.0%  red" in result.stdout
    assert "by mine (m-1) in" in result.stdout


def test_the_decision_is_coloured_on_a_terminal(run, upstream) -> None:
    upstream.answer(choice(red=0.9, blue=0.1))

    result = run("decide", "Which colour?", "-o", "red", "-o", "blue", colour=True)

    assert "\x1b[32m" in result.stdout


def test_an_abstention_ends_with_3_and_says_why(run, upstream) -> None:
    upstream.answer(choice(red=0.55, blue=0.45))

    result = run("decide", "Which colour?", "-o", "red", "-o", "blue")

    assert result.exit_code == 3
    assert "abstained: " in result.stdout


def test_a_failure_ends_with_1_and_names_each_attempt(run, upstream) -> None:
    upstream.answer(Reply(status=500, body={"error": "down"}))

    result = run("decide", "Which colour?", "-o", "red", "-o", "blue")

    assert result.exit_code == 1
    assert "mine: " in result.stdout
    assert "error: provider_error" in result.stderr


def test_an_invalid_request_ends_with_2_and_reaches_nobody(run, upstream) -> None:
    result = run("decide", "Which?", "-o", "same", "-o", "same", "--json")

    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["code"] == "invalid_request"
    assert list(upstream.requests) == []


@pytest.mark.parametrize("way", ["text", "file", "stdin"])
def test_context_comes_from_text_a_file_or_stdin(run, upstream, tmp_path, way: str) -> None:
    upstream.answer(choice(red=0.9, blue=0.1))
    (tmp_path / "c.json").write_text('{"a": "ü"}')
    given = {"text": '{"a": "ü"}', "file": f"@{tmp_path}/c.json", "stdin": "@-"}[way]

    result = run("decide", "Q?", "-o", "red", "-o", "blue", "--context", given, stdin='{"a": "ü"}')

    assert result.exit_code == 0
    assert upstream.requests[0].json()["state"] == {"a": "ü"}


def test_options_keep_their_order(run, upstream) -> None:
    upstream.answer(choice(z=0.9, a=0.1))

    run("decide", "Q?", "-o", "z", "-o", "a")

    assert list(upstream.requests[0].json()["questions"]["decision"]["criteria"]) == ["z", "a"]


def test_while_paused_it_abstains_and_says_so(run, upstream) -> None:
    assert run("toggle", "off").exit_code == 0

    result = run("decide", "Q?", "-o", "red", "-o", "blue")

    assert result.exit_code == 3
    assert "paused" in result.stdout
    assert list(upstream.requests) == []


def test_remote_providers_of_an_automatic_chain_are_announced_on_stderr(spawn) -> None:
    # A port that nothing listens on stands in the way of any real call.
    environ = {**os.environ, "TYPESAFE_API_KEY": "k", "HTTPS_PROXY": "http://127.0.0.1:9"}
    done = spawn("decide", "Which?", "-o", "red", "-o", "blue", env=environ)

    assert "questions may leave this machine to typesafe (api.typesafe.ai)" in done.stderr
    assert done.stdout.count("leave this machine") == 0


def test_a_terminal_without_the_characters_still_shows_everything(spawn, upstream) -> None:
    upstream.answer(choice(日本=0.9, rot=0.1))
    environ = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    question = ("decide", "Which?", "-o", "日本", "-o", "rot")

    done = spawn(*question, env=environ)
    as_json = spawn(*question, "--json", env=environ)

    assert done.returncode == 0
    assert "####" in done.stdout
    assert "\\u65e5\\u672c" in done.stdout
    assert json.loads(as_json.stdout)["decision"] == "日本"


@pytest.mark.parametrize(
    ("share", "shown"), [(0.0, "░░░░"), (0.5, "██░░"), (1.0, "████"), (7.0, "████"), (-1, "░░░░")]
)
def test_a_bar_is_as_long_as_its_share(share: float, shown: str, monkeypatch) -> None:
    assert bar(share, width=4) in (shown, shown.replace("█", "#").replace("░", "."))


def test_a_providers_words_cannot_steer_the_terminal() -> None:
    assert plain("a\x1b[2Jb\r\nc\u202e") == "a [2Jb  c "


def test_the_answer_is_printed_before_its_shadow_has_answered(upstream, write_config) -> None:
    write_config(
        "[decide]\nchain = ['mine']\n[decision_log]\nenabled = true\nshadow = ['beside']\n"
        + "".join(
            f"[providers.{name}]\ndialect = 'generic-systemone'\n"
            f"base_url = '{upstream.url}/{name}'\nmodels = ['m']\n"
            for name in ("mine", "beside")
        )
    )
    shadows = Gate()

    def answer(received: Received) -> Reply:
        gate = shadows if "beside" in received.path else None
        return attrs.evolve(choice(a=0.9, b=0.1), gate=gate)

    upstream.answer(answer)
    command = [str(Path(sys.executable).with_name("s1gw")), "decide", "Which?", *A_OR_B, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        printed = "".join(iter(process.stdout.readline, "}\n")) + "}"
        assert json.loads(printed)["decision"] == "a"
        assert process.poll() is None
        shadows.open()
        assert process.wait(60) == 0
