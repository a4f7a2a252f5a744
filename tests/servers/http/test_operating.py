"""What an operator does while the server runs, and a stranger's dialect in an organization."""

import subprocess
import sys
import time
from collections.abc import Iterator

import httpx
import pytest

from gateway_core.testing import Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

ANSWER = {"model": "m", "answers": {}, "usage": {}}
PATIENCE_S = 60.0
"""The store looks every quarter of a second (its own tests hold that); the machine may be busy."""
CONFIG = """
[orgs.acme.providers.echo]
dialect = "echo"
base_url = "http://203.0.113.40/deep/api/"
prefix = "v9"
api_key = { env = "ORG_KEY" }
models = ["one/two"]
headers = { x-tenant = "acme" }

[orgs.acme.providers.inside]
api_format = "systemone"
base_url = "http://10.1.2.3"
models = ["inside"]

[orgs.open]
allow_private = true

[orgs.open.providers.inside]
api_format = "systemone"
base_url = "http://10.1.2.3"
models = ["inside"]
"""


@pytest.fixture(scope="module")
def proxy() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as found:
        found.answer(Reply(body=ANSWER))
        yield found


def models(gateway: GatewayProcess, key: str) -> httpx.Response:
    headers = {"authorization": f"Bearer {key}"}
    return httpx.get(f"{gateway.url}/v1/decisions/models", headers=headers, timeout=30)


def ask(gateway: GatewayProcess, key: str, model: str) -> httpx.Response:
    body = {"model": model, "state": "never-log-this", "questions": {}}
    return httpx.post(
        f"{gateway.url}/v1/systemone", json=body, headers={"x-api-key": key}, timeout=30
    )


def run(gateway: GatewayProcess, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "gateway_core.cli", "keys", *words],
        env=gateway.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.parametrize("command", ["revoke", "rotate"])
def test_a_key_that_is_taken_back_stops_working_within_a_second(
    gateway: GatewayProcess, command: str
) -> None:
    key = gateway.key(org="acme")
    assert models(gateway, key).status_code == 200
    printed = run(gateway, command, key)
    until = time.monotonic() + PATIENCE_S
    found = models(gateway, key)
    while found.status_code != 401 and time.monotonic() < until:
        found = models(gateway, key)
    assert (found.status_code, found.json()["error"]["code"]) == (401, "invalid_api_key")
    if command == "rotate":
        assert models(gateway, printed).status_code == 200


def test_a_new_key_works_within_a_second(gateway: GatewayProcess) -> None:
    key = run(gateway, "create", "--org", "acme")
    until = time.monotonic() + PATIENCE_S
    while models(gateway, key).status_code != 200 and time.monotonic() < until:
        pass
    assert models(gateway, key).status_code == 200


def test_a_strangers_dialect_serves_an_organization(
    gateway: GatewayProcess, proxy: ScriptedUpstream
) -> None:
    key = gateway.key(org="acme")
    assert models(gateway, key).json()["data"][0]["id"] == "echo/one/two"
    found = ask(gateway, key, "echo/one/two")
    assert (found.status_code, found.json()) == (200, ANSWER)
    assert found.headers["x-s1gw-provider"] == "echo"
    received = proxy.requests[-1]
    assert received.path == "http://203.0.113.40/deep/api/v9/systemone"
    assert received.headers["authorization"] == "Bearer never-log-this-key"
    assert received.headers["x-tenant"] == "acme"
    assert received.json()["model"] == "one/two"


def test_private_networks_are_for_organizations_that_may_use_them(
    gateway: GatewayProcess, proxy: ScriptedUpstream
) -> None:
    asked = len(proxy.requests)
    refused = ask(gateway, gateway.key(org="acme"), "inside").json()["error"]
    assert refused["code"] == "provider_base_url_blocked"
    assert "10.1.2.3" not in refused["message"]
    assert len(proxy.requests) == asked
    gateway.wait_for("blocked: 10.1.2.3 has the address 10.1.2.3")
    assert ask(gateway, gateway.key(org="open"), "inside").status_code == 200
