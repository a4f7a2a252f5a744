"""A relay with real providers, real keys and real upstreams on loopback.

Organizations may not send to loopback, so their providers have ordinary host names, and the
way out is told that these lead to the scripted upstreams.
"""

import asyncio
import json
import re
import ssl
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest

from gateway_core.catalog import Catalog
from gateway_core.config.load import load_config
from gateway_core.outbound import Outbound
from gateway_core.registry import Registry
from gateway_core.relay.call import CallRecord, RelayReply, Route
from gateway_core.relay.keys.file import changing_keys
from gateway_core.relay.keys.record import KeySettings, make_key
from gateway_core.relay.keys.store import KeyStore
from gateway_core.relay.limits.limiter import Limiter, open_limiter
from gateway_core.relay.relay import Relay
from gateway_core.testing import Reply, ScriptedUpstream

SYSTEMONE = {"model": "jev-latest", "state": "s", "questions": {"q": {"type": "noul"}}}
OPENAI = {"model": "gpt-6-luna", "input": "s", "questions": [{"type": "predicate"}]}
ANSWER = {"model": "m", "answers": {}, "usage": {"input_tokens": 3, "output_tokens": 2}}


@attrs.define(eq=False)
class Result:
    """What came back, and what was noted."""

    reply: RelayReply
    record: CallRecord

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
        route: Route = Route.DECISIONS,
        headers: Mapping[str, str] | None = None,
        client: str = "192.0.2.1",
        chunks: Sequence[bytes] | None = None,
    ) -> Result:
        """Send ``body``, JSON unless it is bytes, as the caller with ``key``."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        record = CallRecord(request_id="req-1", route=route)
        reply = await self.relay.decide(
            route, _headers(key, headers), client, _chunks(chunks or [content]), record
        )
        return Result(reply, record)

    async def models(self, key: str | None = None) -> Result:
        """List the models."""
        record = CallRecord(request_id="req-1", route=Route.MODELS)
        return Result(await self.relay.models(_headers(key, None), "192.0.2.1", record), record)


def _headers(key: str | None, more: Mapping[str, str] | None) -> dict[bytes, bytes]:
    sent = {"content-type": "application/json", **(more or {})}
    if key is not None:
        sent["authorization"] = f"Bearer {key}"
    return {name.encode(): text.encode() for name, text in sent.items()}


async def _chunks(parts: Sequence[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


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
        toml: str, *, auth: bool = True, limiter: Limiter | None = None
    ) -> AsyncIterator[Scene]:
        path = tmp_path / "config.toml"
        path.write_text(toml)
        # Every secret that the configuration takes from the environment is its name.
        environ = {name: f"sk-{name}" for name in re.findall(r'env = "(\w+)"', toml)}
        loaded = load_config(path, environ)
        assert loaded.faults == ()
        outbound = Outbound({}, resolve=network.resolve, dial=network.dial)
        catalog = Catalog.installed()
        registry = Registry(loaded, catalog, outbound)
        keys_path = tmp_path / "state" / "keys.json"
        used = limiter or open_limiter(loaded.config.http)
        store = KeyStore(keys_path, look_s=0) if auth else None
        try:
            yield Scene(Relay(registry, store, used), keys_path, catalog)
        finally:
            await outbound.aclose()
            await used.aclose()

    return opened


ACME = """
[orgs.acme.providers.typesafe]
api_format = "systemone"
base_url = "http://api.typesafe.ai"
api_key = { env = "ACME_TYPESAFE" }
models = ["jev-latest", "team/jev-1"]

[orgs.acme.providers.openai]
api_format = "openai"
base_url = "http://api.openai.com"
api_key = { env = "ACME_OPENAI" }
models = ["gpt-6-luna"]
"""


@pytest.fixture
def acme() -> str:
    return ACME


@pytest.fixture
def systemone() -> dict[str, Any]:
    return dict(SYSTEMONE)


@pytest.fixture
def openai() -> dict[str, Any]:
    return dict(OPENAI)
