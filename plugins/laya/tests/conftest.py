"""What every test of this plugin shares: the two real servers, started here."""

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from s1gw_laya import LayaProvider

from gateway_core import Endpoint, Secret
from gateway_core.outbound import Outbound
from gateway_core.provider import Provider, build_provider

# By its module: the laya package has a command of the same name.
LAYA_SERVE = (sys.executable, "-m", "laya_serve.cli", "--host", "127.0.0.1", "--port", "0")
ENGINE = (sys.executable, str(Path(__file__).with_name("laya_server.py")))
Start = Callable[..., str]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a real server with environment variables; returns its base URL."""
    with ExitStack() as stack:

        def started(*command: str, **environ: str) -> str:
            return stack.enter_context(_server(command, environ))

        yield started


@contextmanager
def _server(command: tuple[str, ...], environ: dict[str, str]) -> Iterator[str]:
    process = subprocess.Popen(
        command,
        env={**os.environ, **environ},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if running := re.search(r"running on (http://\S+)", line):
                yield running[1]
                break
        else:
            pytest.fail(f"{command[1:3]} ended without having served")
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.fixture
def laya_serve(start: Start) -> Callable[..., str]:
    """Start ``laya-serve`` with its weight-free backend, whose answers are uniform."""
    return lambda **environ: start(*LAYA_SERVE, LAYA_SERVE_BACKEND="fake", **environ)


@pytest.fixture
def laya_engine(start: Start) -> Callable[..., str]:
    """Start the ``laya`` package's own server around a stand-in for the model."""
    return lambda **environ: start(*ENGINE, **environ)


@pytest.fixture
def connect() -> Callable[..., Any]:
    """Build the provider against a base URL."""

    @asynccontextmanager
    async def connected(
        base_url: str, key: str | None = None, model: str = "laya", **settings: Any
    ) -> AsyncIterator[Provider]:
        outbound = Outbound(environ={})
        endpoint = Endpoint(
            base_url=base_url, api_key=Secret(key) if key else None, models=(model,)
        )
        try:
            yield build_provider(
                LayaProvider,
                name="laya",
                dialect="laya",
                endpoint=endpoint,
                settings=settings,
                sender=outbound.sender(endpoint),
            )
        finally:
            await outbound.aclose()

    return connected
