"""The server, started for one request of each organization, and ended."""

import asyncio
import http.client
import json
import logging
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, nullcontext
from pathlib import Path
from typing import Final

import attrs

from gateway_core.cli.trial.stand_in import StandIn
from gateway_core.config.loaded import Loaded
from gateway_core.config.model import HttpConfig
from gateway_core.door.keys.file import changing_keys
from gateway_core.door.keys.record import KeySettings, make_key
from gateway_core.errors import ConfigError
from gateway_core.provider import Provider
from gateway_core.registry import Registry
from gateway_core.servers.http.access_log import AccessLog
from gateway_core.servers.http.app import Application
from gateway_core.servers.http.server import Duties, HttpServer
from gateway_core.servers.http.services import open_services
from gateway_core.types import Operation
from gateway_core.urls import IN_PROCESS
from gateway_core.wire import Question, encode

_log: Final = logging.getLogger("s1gw.http")
_PATIENCE_S: Final = 30.0
_QUESTION: Final = Question(text="Is this a trial?", context={"text": "A trial of the gateway."})
_OWN_FORMAT: Final = "upstream_invalid_response"
OPERATOR: Final = "the operator"


@attrs.frozen(kw_only=True)
class Trial:
    """What came of one request.

    Attributes:
        who: the organization that it was made for, or the operator without authentication.
        ok: whether it was served.
        told: what happened, in words.
    """

    who: str
    ok: bool
    told: str


@attrs.frozen(kw_only=True, eq=False)
class _Stage:
    """A gateway that runs for the trial."""

    port: int
    registry: Registry
    stand_in: StandIn
    keys: dict[str, str]


async def try_out(loaded: Loaded) -> list[Trial]:
    """Serve ``loaded`` on a free port of loopback, and make one request for each organization.

    Nothing leaves the process, nothing that the gateway keeps is touched, and whoever serves at
    the configured place goes on: it has keys of its own and counts limits by itself.

    Args:
        loaded: the configuration, checked for a start already.

    Raises:
        GatewayError: the server does not start.
    """
    with tempfile.TemporaryDirectory(prefix="s1gw-") as folder:
        async with _serving(_for_trial(loaded), Path(folder)) as stage:
            return [await asyncio.to_thread(_tried, stage, who) for who in _callers(loaded)]


def _callers(loaded: Loaded) -> list[str]:
    if loaded.config.http.auth == "disabled":
        return [OPERATOR]
    return list(dict.fromkeys((*loaded.config.orgs, *loaded.dropped_of)))


def _for_trial(loaded: Loaded) -> Loaded:
    config = loaded.config
    # What would be seen outside this process is left out: address, store, log of decisions.
    http = attrs.evolve(config.http, host="127.0.0.1", limits_store=None, drain_delay_s=0.0)
    log = attrs.evolve(config.decision_log, enabled=False, shadow=())
    return attrs.evolve(loaded, config=attrs.evolve(config, http=http, decision_log=log))


@asynccontextmanager
async def _serving(loaded: Loaded, folder: Path) -> AsyncIterator[_Stage]:
    keys_path, stand_in = folder / "keys.json", StandIn(loaded.environ)
    keys = _make_keys(keys_path, _callers(loaded))
    log = AccessLog.of(attrs.evolve(loaded.config.log, level="error"))
    async with open_services(loaded, outbound=stand_in, keys_path=keys_path) as services:
        app = Application(lambda: nullcontext(services), log)
        with closing(socket.create_server(("127.0.0.1", 0))) as listener:
            port = listener.getsockname()[1]
            async with _running(app, loaded.config.http, listener):
                yield _Stage(port=port, registry=services.registry, stand_in=stand_in, keys=keys)


@asynccontextmanager
async def _running(
    app: Application, config: HttpConfig, listener: socket.socket
) -> AsyncIterator[None]:
    server, ready = HttpServer(app, config, None), asyncio.Event()
    server.duties = Duties(ready=ready.set)
    serving = asyncio.create_task(server.serve([listener]))
    await ready.wait()
    try:
        yield
    finally:
        server.end()
        await serving


def _make_keys(path: Path, orgs: list[str]) -> dict[str, str]:
    """Make a key for each organization, in a file of the trial's own."""
    made = {}
    with changing_keys(path) as keys:
        for org in orgs:
            record, secret = make_key(KeySettings(org=org))
            keys[record.id], made[org] = record, secret.reveal()
    return made


def _tried(stage: _Stage, who: str) -> Trial:
    try:
        name, provider, model = _first(stage.registry, who)
        if provider.url(Operation.DECIDE, model).startswith(IN_PROCESS):
            told = f"{name} answers in this process and was not asked"
            return Trial(who=who, ok=True, told=told)
    except ConfigError as error:
        return Trial(who=who, ok=False, told=str(error))
    asked = stage.stand_in.asked
    body = encode(_QUESTION, f"{name}/{model}", provider.capabilities)
    status, code = _post(stage, who, body)
    reached = stage.stand_in.asked > asked
    if status == http.HTTPStatus.OK:
        return Trial(who=who, ok=reached, told=f"{name} was asked for {model}: {status}")
    if reached and code == _OWN_FORMAT:
        told = f"{name} was asked for {model}; its answers have a format of its own, not tried"
        return Trial(who=who, ok=True, told=told)
    return Trial(who=who, ok=False, told=f"{name}, asked for {model}: {status} {code}")


def _first(registry: Registry, who: str) -> tuple[str, Provider, str]:
    """Return the first provider that a caller would ask, with the model to ask for.

    Raises:
        ConfigError: there is none, or it cannot be asked.
    """
    for name, models in _offered(registry, who):
        provider = registry.provider(name) if who == OPERATOR else registry.org_provider(who, name)
        if provider.hindrance is not None:
            raise provider.hindrance
        return name, provider, (models or provider.endpoint.models or ("",))[0]
    raise ConfigError("no enabled provider lists a model")


def _offered(registry: Registry, who: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    if who == OPERATOR:
        yield from ((name, ()) for name in registry.names)
        return
    owner = registry.loaded.config.orgs.get(who)
    for name, table in owner.providers.items() if owner else ():
        if table.enabled and table.models:
            yield name, table.models


def _post(stage: _Stage, who: str, body: bytes) -> tuple[int, str]:
    """Send a body to the gateway; return the status, and the code of a refusal."""
    headers = {"content-type": "application/json", "authorization": f"Bearer {stage.keys[who]}"}
    connection = http.client.HTTPConnection("127.0.0.1", stage.port, timeout=_PATIENCE_S)
    with closing(connection):
        connection.request("POST", "/v1/decisions", body, headers)
        reply = connection.getresponse()
        content = reply.read()
    if reply.status == http.HTTPStatus.OK:
        return reply.status, ""
    return reply.status, str(json.loads(content)["error"]["code"])
