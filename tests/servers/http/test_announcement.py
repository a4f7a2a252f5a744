"""Nothing leaves the machine unannounced, over HTTP either."""

from collections.abc import Callable
from urllib.request import urlopen

from gateway_core.testing.process import GatewayProcess

KEY = {"TYPESAFE_API_KEY": "never-log-this-key"}


def test_an_automatic_chain_that_leaves_the_machine_is_announced_once(
    start: Callable[..., GatewayProcess],
) -> None:
    gateway = start("", "--auth", "disabled", env=KEY)
    gateway.wait_for(r"questions may leave this machine to typesafe \(api\.typesafe\.ai\)")
    gateway.stop()

    assert gateway.log.count("may leave this machine") == 1


def test_a_chain_that_was_chosen_is_not(start: Callable[..., GatewayProcess]) -> None:
    gateway = start("[decide]\nchain = ['typesafe']\n", "--auth", "disabled", env=KEY)
    with urlopen(f"{gateway.url}/healthz", timeout=30) as reply:
        assert reply.status == 200
    gateway.stop()

    assert "may leave this machine" not in gateway.log
