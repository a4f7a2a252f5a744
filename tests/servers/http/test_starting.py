"""The start of an HTTP server: what it says, and that it can be ended from then on."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest

from gateway_core.testing.process import GatewayProcess

KEY = {"TYPESAFE_API_KEY": "never-log-this-key"}
NO_FILE = {"S1GW_CONFIG": ""}


def test_an_automatic_chain_that_leaves_the_machine_is_announced_once(
    start: Callable[..., GatewayProcess],
) -> None:
    gateway = start("", "--auth", "disabled", env=KEY | NO_FILE)
    gateway.wait_for(r"questions may leave this machine to typesafe \(api\.typesafe\.ai\)")
    gateway.stop()

    assert gateway.log.count("may leave this machine") == 1


def test_a_chain_that_was_chosen_is_not(start: Callable[..., GatewayProcess]) -> None:
    gateway = start("[decide]\nchain = ['typesafe']\n", "--auth", "disabled", env=KEY)
    with urlopen(f"{gateway.url}/healthz", timeout=30) as reply:
        assert reply.status == 200
    gateway.stop()

    assert "may leave this machine" not in gateway.log


@pytest.mark.parametrize("path", ["/v1/decisions/models", "/healthz"])
def test_without_keys_a_file_that_names_no_vendor_serves_none(
    start: Callable[..., GatewayProcess], path: str
) -> None:
    gateway = start("[log]\nlevel = 'info'\n", "--auth", "disabled", env=KEY)
    with urlopen(f"{gateway.url}{path}", timeout=30) as reply:
        assert b"typesafe" not in reply.read()
    gateway.stop()

    assert "may leave this machine" not in gateway.log


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_in_the_midst_of_the_start_ends_it_without_complaint(
    start: Callable[..., GatewayProcess], number: signal.Signals
) -> None:
    gateway = start("", "--auth", "disabled")

    assert gateway.stop(number) == 0
    assert "Warning:" not in gateway.log


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_start_that_is_refused_never_opens_the_port(tmp_path: Path, workers: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "S1GW_STRICT_PLUGINS": "1",
    }
    config = tmp_path / "config.toml"
    config.write_text("[orgs.acme.providers.own]\ndialect = 'nosuch'\n")
    command = [sys.executable, "-m", "gateway_core.cli", "serve", "--http", "--config", config]
    process = subprocess.Popen(
        [*command, "--port", str(port), "--workers", workers], env=environ, stderr=subprocess.PIPE
    )
    opened = 0
    while process.poll() is None:
        with socket.socket() as client:
            opened += client.connect_ex(("127.0.0.1", port)) == 0
    _, log = process.communicate(timeout=60)

    assert process.returncode != 0
    assert opened == 0
    assert b"listening on" not in log
    assert b"Traceback" not in log
