"""What is decided over HTTP reaches the decision log, and only where it is the operator's."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from gateway_core.calibration.fitfile import BucketFit, FitFile, write_json
from gateway_core.decisionlog.reader import LogReader
from gateway_core.testing import Received, Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

QUESTION = {"question": "What is it? never-log-this", "options": ["refund", "bug", "praise"]}
CONFIG = """
[decide]
chain = ["chosen"]
threshold = 0.1
[providers.chosen]
api_format = "systemone"
base_url = "{url}/chosen"
api_key = {{ env = "KEY" }}
models = ["m"]
[providers.beside]
api_format = "systemone"
base_url = "{url}/beside"
api_key = {{ env = "KEY" }}
models = ["m"]
[orgs.acme.providers.own]
api_format = "systemone"
base_url = "http://203.0.113.41"
models = ["m"]
[decision_log]
enabled = true
shadow = ["beside"]
"""


def answer(received: Received) -> Reply:
    options = list(received.json()["questions"]["decision"]["criteria"])
    choice = options[1 if "beside" in received.path else 0]
    spread = {option: 0.8 if option == choice else 0.1 for option in options}
    told = {"type": "choice", "choice": choice, "probabilities": spread, "confidence": 0.7}
    return Reply(body={"model": "m-1", "answers": {"decision": told}, "usage": {}})


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as found:
        found.answer(answer)
        yield found


def logged(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of the first gateway's log."""
    with LogReader(folder / "gateway-0" / "state" / "decisions.sqlite3") as reader:
        return reader.tail(9)


@pytest.fixture
def operators(start: Callable[..., GatewayProcess], upstream: ScriptedUpstream) -> GatewayProcess:
    env = {"KEY": "never-log-this-key"}
    return start(CONFIG.format(url=upstream.url), "--auth", "disabled", env=env)


@pytest.mark.anyio
async def test_what_is_decided_over_http_and_mcp_is_logged_with_its_shadow(
    operators: GatewayProcess, upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    async with httpx.AsyncClient(base_url=operators.url, timeout=60) as client:
        first = (await client.post("/v1/decide", json=QUESTION)).json()
    async with Client(streamable_http_client(f"{operators.url}/mcp")) as session:
        called = await session.call_tool("system1_decide", QUESTION)
    second = called.structured_content
    assert operators.stop() == 0
    entries = logged(tmp_path)
    for reply in (first, second):
        found = {e["role"]: e for e in entries if e["request_id"] == reply["request_id"]}
        assert (found["chain"]["provider"], found["shadow"]["provider"]) == ("chosen", "beside")
        assert (found["chain"]["decision"], found["shadow"]["decision"]) == (0, 1)
    assert len(entries) == 4
    assert "never-log-this" not in json.dumps(entries)
    for file in (tmp_path / "gateway-0" / "state").iterdir():
        assert b"never-log-this" not in file.read_bytes()
    sent = {request.headers["authorization"] for request in upstream.requests}
    assert sent == {"Bearer never-log-this-key"}


def test_what_an_organization_asks_is_not_in_the_operators_log(
    start: Callable[..., GatewayProcess], upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    gateway = start(CONFIG.format(url=upstream.url), env={"HTTP_PROXY": upstream.url})
    headers = {"authorization": f"Bearer {gateway.key(org='acme')}"}
    with httpx.Client(base_url=gateway.url, headers=headers, timeout=60) as client:
        assert client.post("/v1/decide", json=QUESTION).json()["provider"] == "own"
    assert gateway.stop() == 0
    assert "what organizations ask of their own providers is not logged" in gateway.log
    assert not list(tmp_path.glob("**/decisions.sqlite3*"))


def test_a_running_server_uses_a_new_fit(operators: GatewayProcess, tmp_path: Path) -> None:
    fit = BucketFit(
        model="m-1", question_type="options", bucket="3-5", temperature=2.0, examples=400
    )
    record = FitFile(id="fit-1", provider="chosen", created="2026", fits=(fit,))
    with httpx.Client(base_url=operators.url, timeout=60) as client:
        assert not client.post("/v1/decide", json=QUESTION).json()["calibrated"]
        write_json(tmp_path / "gateway-0" / "state" / "calibration" / "fit-1.json", record)
        deadline = monotonic() + 30
        while not (reply := client.post("/v1/decide", json=QUESTION).json())["calibrated"]:
            assert monotonic() < deadline
    assert reply["calibration"]["id"] == "fit-1"
