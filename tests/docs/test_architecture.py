"""The page of the architecture: its walks are run, and it names every cache that there is."""

import ast
import asyncio
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from http.client import HTTPResponse
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest
import uvicorn

from gateway_core.config.load import load_config
from gateway_core.door.keys.manage import create_key
from gateway_core.door.keys.record import KeySettings
from gateway_core.gateway import Gateway
from gateway_core.secret import Secret
from gateway_core.servers.http.access_log import AccessLog, as_text
from gateway_core.servers.http.app import Application
from gateway_core.servers.http.connection import ClientConnection
from gateway_core.servers.http.services import open_services
from gateway_core.testing import Reply, ScriptedUpstream

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PACKAGE: Final = "gateway_core."
STEP: Final = re.compile(r"^\d+\. `([\w.]+:[\w.]+)` ", re.MULTILINE)
TABLE: Final = """
api_format = "systemone"
base_url = "http://203.0.113.41"
models = ["m"]
api_key = { env = "PROVIDER_KEY" }
"""
CONFIG: Final = f"""
[decide]
chain = ["up"]
[providers.up]
{TABLE}
[orgs.acme.providers.up]
{TABLE}
"""
RELAYED: Final = b'{"model": "m", "state": "x", "questions": {}}'
QUESTION: Final = b'{"question": "?"}'
YES: Final = {"model": "m", "answers": {"decision": {"type": "noul", "noul": 0.9}}, "usage": {}}


def steps(walk: str) -> list[str]:
    """Return the steps of a walk of the page."""
    (text,) = re.findall(rf"^### {re.escape(walk)}\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    found = STEP.findall(text)
    assert len(found) == len(re.findall(r"^\d+\. ", text, re.MULTILINE))
    return found


def first_missing(wanted: Sequence[str], calls: Sequence[str]) -> str | None:
    """Return the first step that was not called after those before it; None if all were."""
    left = iter(calls)
    return next((step for step in wanted if step not in left), None)


@contextmanager
def recorded() -> Iterator[list[str]]:
    """Give the calls of the host's functions, in their order, of all threads started meanwhile."""
    calls: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        module = frame.f_globals.get("__name__") or ""
        if event == "call" and module.startswith(PACKAGE):
            calls.append(f"{module.removeprefix(PACKAGE)}:{frame.f_code.co_qualname}")

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


@contextmanager
def serving(config: Path, environ: dict[str, str]) -> Iterator[int]:
    """Serve a configuration in this process, on the port that is given."""
    app = Application(lambda: open_services(load_config(config, environ)), AccessLog(as_text))
    options: dict[str, Any] = {"interface": "asgi3", "lifespan": "on", "log_config": None}
    options["proxy_headers"] = False
    server = uvicorn.Server(uvicorn.Config(app, http=ClientConnection, ws="none", **options))
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        running = threading.Thread(target=server.run, args=([listener],), daemon=True)
        running.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            running.join(60)


def post(port: int, path: str, key: Secret, body: bytes) -> int:
    """Send a request in one piece, as small requests come; return the status of its reply."""
    head = (
        f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n"
        f"authorization: Bearer {key.reveal()}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), 30) as client:
        client.sendall(head.encode() + body)
        reply = HTTPResponse(client)
        reply.begin()
        reply.read()
        return reply.status


def request(path: str, body: bytes) -> Callable[[Path, dict[str, str]], None]:
    def work(config: Path, environ: dict[str, str]) -> None:
        _, key = create_key(KeySettings(org="acme"))
        with serving(config, environ) as port:
            assert post(port, path, key, body) == 200

    return work


def program(config: Path, environ: dict[str, str]) -> None:
    async def work() -> None:
        async with Gateway.open(config, environ=environ) as gateway:
            assert (await gateway.decide({"question": "?"}))["status"] == "decided"

    asyncio.run(work())


WALKS: Final = {
    "A relayed request": request("/v1/systemone", RELAYED),
    "A question": request("/v1/decide", QUESTION),
    "A provider's configuration": program,
    "A provider's credential": program,
    "A key of the gateway": request("/v1/systemone", RELAYED),
}


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as found:
        found.answer(Reply(body=YES))
        yield found


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_is_the_way_that_a_real_call_takes(
    walk: str, upstream: ScriptedUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(CONFIG, encoding="utf-8")
    monkeypatch.setenv("S1GW_STATE_DIR", str(tmp_path / "state"))
    environ = {
        "S1GW_STATE_DIR": str(tmp_path / "state"),
        "PROVIDER_KEY": "the provider's key",
        "HTTP_PROXY": upstream.url,
    }
    with recorded() as calls:
        WALKS[walk](config, environ)
    assert first_missing(steps(walk), calls) is None


def test_every_walk_of_the_page_is_run() -> None:
    (text,) = re.findall(r"^## Walks\n(.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL)
    assert re.findall(r"^### (.*)$", text, re.MULTILINE) == list(WALKS)


def test_a_step_in_the_wrong_place_is_noticed() -> None:
    assert first_missing(["a:f", "a:g"], ["a:g", "a:f"]) == "a:g"
    assert first_missing(["a:f", "a:g"], ["a:f", "a:h", "a:g"]) is None


def test_the_page_names_every_module_that_keeps_something_for_many_calls() -> None:
    (table,) = re.findall(r"^## What is kept.*?\n(.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL)
    package = ROOT / "gateway_core"
    unnamed = [
        name
        for path in package.rglob("*.py")
        if _keeps(path) and (name := path.relative_to(package).as_posix()) not in table
    ]
    assert [name for name in unnamed if not name.startswith(("testing/", "cli/"))] == []


def test_every_file_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`((?:[\w.]+/)+(?:\w+\.\w+)?)`", PAGE))
    assert named
    missing = [name for name in named if not any((base / name).exists() for base in BASES)]
    assert missing == []


BASES: Final = (ROOT, ROOT / "gateway_core")


def _keeps(path: Path) -> bool:
    """Say whether a module uses a cache of the standard library, or ours."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    names = {
        node.func.id for node in nodes if isinstance(node, ast.Call) and hasattr(node.func, "id")
    }
    return bool(names & {"lru_cache", "BoundedCache", "cache"}) or "\n@cache\n" in path.read_text(
        "utf-8"
    )
