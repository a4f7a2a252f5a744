"""The start of an HTTP server: what it says, and that it can be ended from then on."""

import signal
from collections.abc import Callable
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
