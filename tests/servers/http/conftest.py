"""Real gateways in processes of their own; none may log what must never be logged."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from gateway_core.testing import ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

UNSPEAKABLE = "never-log-this"
"""Part of every credential and of every body that these tests send."""
Starter = Callable[..., GatewayProcess]


@contextmanager
def starting(folder: Path) -> Iterator[Starter]:
    """Give what starts gateways; end them all, and look at their logs."""
    started: list[GatewayProcess] = []
    with ExitStack() as stack:

        def start(config: str = "", *arguments: str, **options: dict[str, str]) -> GatewayProcess:
            home = folder / f"gateway-{len(started)}"
            home.mkdir()
            gateway = stack.enter_context(GatewayProcess(home, config, *arguments, **options))
            started.append(gateway)
            return gateway

        yield start
    for gateway in started:
        for secret in (UNSPEAKABLE, *gateway.keys):
            assert secret not in gateway.log
        assert "Traceback" not in gateway.log


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Starter]:
    """Starts gateways for one test."""
    with starting(tmp_path) as found:
        yield found


@pytest.fixture(scope="module")
def start_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starter]:
    """Starts gateways for all tests of a module."""
    with starting(tmp_path_factory.mktemp("gateways")) as found:
        yield found


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    """An upstream on loopback that a test scripts."""
    with ScriptedUpstream() as found:
        yield found


@pytest.fixture
def free_port() -> int:
    """A port on loopback that nothing listens on."""
    with closing(socket.create_server(("127.0.0.1", 0))) as found:
        return int(found.getsockname()[1])
