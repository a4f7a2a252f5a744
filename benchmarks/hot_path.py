"""Where a relayed request's instructions go: `python -m benchmarks.hot_path`.

The gateway's own server, relay and way out run in one event loop with a client and an upstream,
and the interpreter counts the bytecode instructions of every function but theirs. The count is
the same on a busy machine as on an idle one, so that a test can hold it.
"""

import asyncio
import gc
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, cast

import uvicorn
import uvloop

from benchmarks import upstream
from benchmarks.clients import Client, ask_once
from benchmarks.gateway import dial_loopback
from benchmarks.gateway_target import Setting, Size, write_setting
from benchmarks.instructions import InstructionCounter
from benchmarks.relay import body_of
from benchmarks.targets import PATH, Target
from gateway_core.catalog import Catalog
from gateway_core.config.load import load_config
from gateway_core.door.access import AccessEntry
from gateway_core.door.door import Door
from gateway_core.door.keys.store import KeyStore
from gateway_core.door.limits.limiter import open_limiter
from gateway_core.outbound import Outbound
from gateway_core.registry import Registry
from gateway_core.relay.relay import Relay
from gateway_core.servers.http.access_log import AccessLog, as_json
from gateway_core.servers.http.app import Application
from gateway_core.servers.http.connection import ClientConnection
from gateway_core.servers.http.services import Services
from gateway_core.servers.http.tenants import TenantGateways

_NOT_OURS: Final = (
    str(Path(__file__).parent),
    str(Path(uvicorn.__file__).parent),
    # The client's.
    asyncio.streams.__file__,
)
_WARM_UP: Final = 20
_REPLY: Final = upstream.reply_of(1_000)


def count(requests: int, length: int = 1_000, configured: Size | None = None) -> InstructionCounter:
    """Return the instructions of ``requests`` relayed one after the other, by function.

    Args:
        requests: how many are counted; every key is used before.
        length: of each body, in bytes.
        configured: how much there is in the configuration.
    """
    with tempfile.TemporaryDirectory() as folder:
        return uvloop.run(_count(Path(folder), requests, body_of(length), configured or Size()))


async def _count(folder: Path, requests: int, body: bytes, size: Size) -> InstructionCounter:
    counter = InstructionCounter(_NOT_OURS)
    async with _provider() as provider, _gateway(write_setting(folder, provider, size)) as target:
        client = await Client.connect(target)
        await ask_once(target, [client] * max(_WARM_UP, size.keys), body)
        with counter:
            statuses = await ask_once(target, [client] * requests, body)
        client.close()
    if statuses != [200] * requests:
        raise RuntimeError(f"a request was not relayed: {sorted(set(statuses))}")
    return counter


def garbage(requests: int, body: bytes, reply: bytes | None = None) -> int:
    """Return how many objects ``requests`` leave that only the garbage collector finds.

    Args:
        requests: how many are made.
        body: what each sends.
        reply: what the upstream answers instead of a good reply, head included.
    """
    with tempfile.TemporaryDirectory() as folder:
        return uvloop.run(_garbage(Path(folder), requests, body, reply or _REPLY))


async def _garbage(folder: Path, requests: int, body: bytes, reply: bytes) -> int:
    async with (
        _provider(reply) as provider,
        _gateway(write_setting(folder, provider, Size())) as target,
    ):
        client = await Client.connect(target)
        await ask_once(target, [client] * _WARM_UP, body)
        gc.collect()
        gc.disable()
        try:
            await ask_once(target, [client] * requests, body)
            return gc.collect()
        finally:
            gc.enable()
            client.close()


class _UnshownLog(AccessLog):
    """Makes every line, and shows none: how often lines are written is a matter of time."""

    def add(self, entry: AccessEntry) -> None:
        as_json([entry])


@asynccontextmanager
async def _provider(reply: bytes = _REPLY) -> AsyncIterator[Target]:
    upstream.Upstream.reply = reply
    server = await asyncio.get_running_loop().create_server(upstream.Upstream, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield Target("direct", f"http://127.0.0.1:{port}{PATH}", 0)


@asynccontextmanager
async def _gateway(setting: Setting) -> AsyncIterator[Target]:
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        Application(lambda: _services(setting), _UnshownLog(as_json)),
        interface="asgi3",
        http=cast("type[asyncio.Protocol]", ClientConnection),
        lifespan="on",
        log_config=None,
        proxy_headers=False,
        server_header=False,
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([listener]))
    yield Target("s1gw", f"http://127.0.0.1:{listener.getsockname()[1]}{PATH}", 0, setting.keys)
    server.should_exit = True
    await serving


@asynccontextmanager
async def _services(setting: Setting) -> AsyncIterator[Services]:
    loaded = load_config(setting.config, setting.environment)
    outbound = Outbound(setting.environment, dial=dial_loopback)
    registry = Registry(loaded, Catalog.installed(), outbound)
    keys = KeyStore(setting.state / "keys.json")
    door = Door(loaded.config, keys, open_limiter(loaded.config.http))
    relay = Relay(registry, door)
    tenants = TenantGateways(registry, None, ())
    yield Services(registry=registry, keys=keys, door=door, relay=relay, tenants=tenants)
    await outbound.aclose()


def main(requests: int = 200) -> None:
    """Print the functions that take most instructions of a request."""
    counter = count(requests)
    print(f"{counter.total / requests:8.0f}  a request")
    for code, number in counter.counts.most_common():
        print(f"{number / requests:8.1f}  {Path(code.co_filename).name}:{code.co_qualname}")


if __name__ == "__main__":
    main()
