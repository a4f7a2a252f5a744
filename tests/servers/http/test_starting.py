"""What the server refuses to start with, and what it says when it starts."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import httpx
import pytest
import trustme
from cryptography.hazmat.primitives import serialization

from gateway_core.testing import ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

Starter = Callable[..., GatewayProcess]


def refused(*arguments: str, env: Mapping[str, str] = {}, code: int = 1) -> str:
    """Start a server that must not start, and return what it says."""
    done = subprocess.run(
        [sys.executable, "-m", "gateway_core.cli", "serve", "--http", "--port", "0", *arguments],
        env={**os.environ, **env},
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    return done.stderr


def test_no_auth_on_the_network_must_be_said() -> None:
    said = refused("--auth", "disabled", "--host", "0.0.0.0")
    assert "--open-to-network" in said


def test_no_auth_on_the_network_can_be_said(start: Starter) -> None:
    gateway = start("", "--auth", "disabled", "--host", "0.0.0.0", "--open-to-network")
    assert "authentication is disabled" in gateway.log


def test_authentication_is_on_and_loopback_is_served_unless_told_otherwise(
    start: Starter,
) -> None:
    gateway = start()
    assert gateway.url.startswith("http://127.0.0.1:")
    found = httpx.get(f"{gateway.url}/v1/decisions/models", timeout=60)
    assert found.json()["error"]["code"] == "invalid_api_key"
    assert "authentication is disabled" not in gateway.log


def test_a_port_that_is_taken_is_told(start: Starter) -> None:
    assert "cannot listen" in refused("--port", str(start().port))


def test_a_certificate_without_its_key_is_told(tmp_path: Path) -> None:
    assert "set both" in refused("--tls-certificate", str(tmp_path / "no.pem"))
    files = ("--tls-certificate", str(tmp_path / "a"), "--tls-key", str(tmp_path / "b"))
    assert "cannot be used" in refused(*files)


def test_a_key_with_a_password_is_told_rather_than_asked_for(tmp_path: Path) -> None:
    made = trustme.CA().issue_cert("127.0.0.1")
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    made.cert_chain_pems[0].write_to_path(str(chain))
    secret = serialization.load_pem_private_key(made.private_key_pem.bytes(), None)
    locked = serialization.BestAvailableEncryption(b"never-log-this")
    encoding, layout = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    key.write_bytes(secret.private_bytes(encoding, layout, locked))
    files = ("--tls-certificate", str(chain), "--tls-key", str(key))
    assert "cannot be used" in refused(*files)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_what_the_workers_could_not_start_with_is_told_before_they_start(
    tmp_path: Path, workers: str
) -> None:
    config, state = tmp_path / "config.toml", tmp_path / "state"
    config.write_text('[http]\nlimits_store = { env = "STORE" }\n')
    env = {"S1GW_CONFIG": str(config), "S1GW_STATE_DIR": str(state)}
    said = refused("--workers", workers, env={**env, "STORE": "ftp://never-log-this"})
    assert "http.limits_store" in said
    assert "listening" not in said
    state.mkdir()
    (state / "keys.json").write_text("{")
    said = refused("--workers", workers, env={**env, "STORE": "memory://"})
    assert "keys.json" in said
    assert "listening" not in said


@pytest.mark.parametrize("workers", ["1", "2"])
def test_processes_that_cannot_start_end_the_server_with_a_failure(
    tmp_path: Path, workers: str
) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[providers.x]\ndialect = "not-installed"\n')
    env = {"S1GW_CONFIG": str(config), "S1GW_STATE_DIR": str(tmp_path)}
    strict = {**env, "S1GW_STRICT_PLUGINS": "1"}
    assert "not-installed" in refused("--workers", workers, env=strict, code=3)


def test_a_gateway_that_nobody_can_use_says_what_is_missing(start: Starter) -> None:
    said = ("s1gw keys create --org NAME", "[orgs.NAME.providers.ID]")
    gateway = start()
    assert all(words in gateway.log for words in said)
    gateway = start("", "--auth", "disabled")
    assert not any(words in gateway.log for words in said)


def test_workers_that_count_limits_apart_say_so(start: Starter) -> None:
    limited = "[orgs.acme.limits]\nrpm = 5\n"
    apart = "each of the 2 workers counts limits for itself"
    assert apart in start(limited, "--workers", "2").log
    assert apart not in start(limited).log
    assert apart not in start("[orgs.acme]\n", "--workers", "2").log
    shared = f'[http]\nlimits_store = {{ env = "STORE" }}\n{limited}'
    env = {"STORE": "redis://127.0.0.1:9"}
    assert apart not in start(shared, "--workers", "2", env=env).log


def test_readiness_is_having_someone_to_send_to_and_asks_nobody(
    start: Starter, upstream: ScriptedUpstream
) -> None:
    gateway = start()
    found = httpx.get(f"{gateway.url}/readyz", timeout=60)
    assert (found.status_code, found.json()["error"]["code"]) == (503, "not_ready")
    gateway.key(kind="internal")
    assert httpx.get(f"{gateway.url}/readyz", timeout=60).status_code == 200
    served = """
    [orgs.acme.providers.x]
    api_format = "systemone"
    base_url = "http://203.0.113.1"
    api_key = { env = "ORG_KEY" }
    models = ["m"]
    """
    ready = (
        start(served, env={"HTTP_PROXY": upstream.url, "ORG_KEY": "never-log-this"}),
        start("", "--auth", "disabled"),
    )
    for gateway in ready:
        for path, state in (("/readyz", "ready"), ("/healthz", "ok")):
            found = httpx.get(gateway.url + path, timeout=60)
            assert (found.status_code, found.json()) == (200, {"status": state})
    assert upstream.requests == ()
