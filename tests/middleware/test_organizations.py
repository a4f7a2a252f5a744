"""Middleware over HTTP: around every question, apart for each organization, never in the relay."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway_core.testing import ScriptedUpstream, standard_answer
from gateway_core.testing.process import GatewayProcess

ASK = {"question": "Which team?", "options": ["billing", "sales"]}
ORGS = """
[decide]
middleware = ["cache"]
[orgs.acme.providers.own]
api_format = "systemone"
base_url = "http://203.0.113.41"
api_key = { env = "ORG_KEY" }
models = ["m"]
[orgs.globex.providers.own]
api_format = "systemone"
base_url = "http://203.0.113.42"
api_key = { env = "ORG_KEY" }
models = ["m"]
"""


@pytest.fixture
def proxy() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as found:
        found.answer(standard_answer)
        yield found


def decide(gateway: GatewayProcess, key: str) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {key}"}
    reply = httpx.post(f"{gateway.url}/v1/decide", headers=headers, json=ASK, timeout=60)
    found: dict[str, Any] = reply.json()
    return found


def started(folder: Path, config: str, proxy: ScriptedUpstream) -> GatewayProcess:
    return GatewayProcess(folder, config, env={"HTTP_PROXY": proxy.url, "ORG_KEY": "k"})


def test_a_cache_never_answers_one_organization_with_anothers(
    tmp_path: Path, proxy: ScriptedUpstream
) -> None:
    with started(tmp_path, ORGS, proxy) as gateway:
        acme, globex = gateway.key(org="acme"), gateway.key(org="globex")
        replies = [decide(gateway, key) for key in (acme, acme, globex)]

    assert [reply["decision"] for reply in replies] == ["sales"] * 3
    assert [bool(reply["attempts"]) for reply in replies] == [True, False, True]
    assert [request.headers["host"] for request in proxy.requests] == [
        "203.0.113.41",
        "203.0.113.42",
    ]


def test_a_relayed_body_meets_no_middleware(tmp_path: Path, proxy: ScriptedUpstream) -> None:
    question = {"type": "noul", "instructions": "Urgent?"}
    body = json.dumps({"model": "own/m", "state": "x", "questions": {"q": question}}).encode()
    with started(tmp_path, ORGS, proxy) as gateway:
        headers = {"authorization": f"Bearer {gateway.key(org='acme')}"}
        headers["content-type"] = "application/json"
        for _ in range(2):
            reply = httpx.post(
                f"{gateway.url}/v1/systemone", headers=headers, content=body, timeout=60
            )
            assert reply.status_code == 200, reply.text

    sent = [request.body for request in proxy.requests]
    assert sent == [body.replace(b"own/m", b"m")] * 2


def test_broken_middleware_closes_the_gateway_to_organizations_without_telling_them_why(
    tmp_path: Path, proxy: ScriptedUpstream
) -> None:
    config = ORGS + "[middleware.cache]\nsettings = { ttl_s = -5 }\n"
    with started(tmp_path, config, proxy) as gateway:
        reply = decide(gateway, gateway.key(org="acme"))

    assert proxy.requests == ()
    assert reply["error"]["code"] == "config_error"
    assert "middleware 'cache' cannot be used" in reply["error"]["message"]
    assert "ttl_s" not in reply["error"]["message"]
