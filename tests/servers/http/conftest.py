"""Real gateways in processes of their own; none may log what must never be logged."""

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn

from gateway_core.servers.http.app import Application
from gateway_core.servers.http.connection import ClientConnection
from gateway_core.testing import Received, Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

UNSPEAKABLE = "never-log-this"
"""Part of every credential and of every body that these tests send."""
Starter = Callable[..., GatewayProcess]


@contextmanager
def starting(folder: Path) -> Iterator[Starter]:
    """Give what starts gateways; end them all, and look at their logs."""
    started: list[GatewayProcess] = []
    with ExitStack() as stack:

        def start(config: str = "", *arguments: str, **options: Any) -> GatewayProcess:
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


@contextmanager
def serving(app: Application) -> Iterator[int]:
    """Serve an application in this process, on the port that is given."""
    options = {"interface": "asgi3", "lifespan": "on", "log_config": None, "proxy_headers": False}
    server = uvicorn.Server(uvicorn.Config(app, http=ClientConnection, ws="none", **options))
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        running = threading.Thread(target=server.run, args=([listener],))
        running.start()
        yield listener.getsockname()[1]
        server.should_exit = True
        running.join(60)


@pytest.fixture(scope="session")
def serve_here() -> Callable[[Application], AbstractContextManager[int]]:
    """Serves applications in this process."""
    return serving


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


@pytest.fixture(scope="module")
def gateway(
    request: pytest.FixtureRequest, start_once: Starter, proxy: ScriptedUpstream
) -> GatewayProcess:
    """A gateway with the module's ``CONFIG``, which reaches everything through ``proxy``."""
    env = {"HTTP_PROXY": proxy.url, "ORG_KEY": f"{UNSPEAKABLE}-key"}
    return start_once(request.module.CONFIG, env=env)


@pytest.fixture(scope="module")
def key(gateway: GatewayProcess) -> str:
    """A key of the organization ``acme``."""
    return gateway.key(org="acme")


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    """An upstream on loopback that a test scripts."""
    with ScriptedUpstream() as found:
        yield found


@pytest.fixture(scope="module")
def laya() -> Iterator[str]:
    """The base URL of a real ``laya-serve``, whose weight-free backend answers evenly."""
    command = (sys.executable, "-m", "laya_serve.cli", "--host", "127.0.0.1", "--port", "0")
    process = subprocess.Popen(
        command,
        env={**os.environ, "LAYA_SERVE_BACKEND": "fake"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    running = (re.search(r"running on (http://\S+)", line) for line in process.stderr)
    try:
        yield next(found[1] for found in running if found)
    finally:
        process.terminate()
        process.communicate(timeout=30)


@pytest.fixture(scope="module")
def proxy(laya: str) -> Iterator[ScriptedUpstream]:
    """A proxy whose every destination is ``laya-serve``; modules may have one of their own."""

    async def forward(received: Received) -> Reply:
        async with httpx.AsyncClient(trust_env=False) as client:
            found = await client.request(
                received.method,
                laya + urlsplit(received.path).path,
                content=received.body,
                headers={"content-type": received.headers["content-type"]},
                timeout=30,
            )
        return Reply(status=found.status_code, body=found.content)

    with ScriptedUpstream() as found:
        found.answer(forward)
        yield found
