"""Where a relayed request's instructions go: `python -m benchmarks.hot_path`.

The gateway's own server, relay and way out run in one event loop with a client and an upstream,
and the interpreter counts the bytecode instructions of every function but these two's. The
count is the same on a busy machine as on an idle one, so that a test can hold it.
"""

import asyncio
import socket
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import uvicorn
import uvloop

from benchmarks import upstream
from benchmarks.clients import Client
from benchmarks.gateway import dial_loopback
from benchmarks.gateway_target import Setting, Size, write_setting
from benchmarks.relay import body_of
from benchmarks.targets import PATH, Target
from gateway_core.catalog import Catalog
from gateway_core.config.load import load_config
from gateway_core.outbound import Outbound
from gateway_core.registry import Registry
from gateway_core.relay.keys.store import KeyStore
from gateway_core.relay.limits.limiter import open_limiter
from gateway_core.relay.relay import Relay
from gateway_core.servers.http.access_log import AccessLog, as_json
from gateway_core.servers.http.app import Application
from gateway_core.servers.http.connection import ClientConnection
from gateway_core.servers.http.deciding import Desks
from gateway_core.servers.http.services import Services

_NOT_OURS: Final = (
    str(Path(__file__).parent),
    str(Path(uvicorn.__file__).parent),
    # The client's.
    asyncio.streams.__file__,
)
_WARM_UP: Final = 20


class InstructionCounter:
    """Counts bytecode instructions by function while it is on, in one thread."""

    def __init__(self) -> None:
        self.counts: Counter[CodeType] = Counter()

    def start(self) -> None:
        """Count the functions that are called from now on."""
        sys.settrace(self._called)

    def stop(self) -> None:
        """Count no more."""
        sys.settrace(None)

    def _called(self, frame: FrameType, _event: str, _: Any) -> Callable[..., Any] | None:
        if frame.f_code.co_filename.startswith(_NOT_OURS):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._stepped

    def _stepped(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any]:
        if event == "opcode":
            self.counts[frame.f_code] += 1
        return self._stepped


def count(requests: int, size: int = 1_000) -> Counter[CodeType]:
    """Return the instructions of ``requests`` relayed one after the other, by function.

    Args:
        requests: how many are counted; some more come before.
        size: of each body, in bytes.
    """
    with tempfile.TemporaryDirectory() as folder:
        return uvloop.run(_count(Path(folder), requests, body_of(size)))


async def _count(folder: Path, requests: int, body: bytes) -> Counter[CodeType]:
    counter = InstructionCounter()
    async with _provider() as provider, _gateway(write_setting(folder, provider, Size())) as target:
        client = await Client.connect(target)
        for number in range(_WARM_UP + requests):
            if number == _WARM_UP:
                counter.start()
            client.send(target, body, target.keys[0])
            if await client.status() != 200:
                raise RuntimeError("a request of the count failed")
        counter.stop()
        client.close()
    return counter.counts


@asynccontextmanager
async def _provider() -> AsyncIterator[Target]:
    upstream.Upstream.reply = upstream.reply_of(1_000)
    server = await asyncio.get_running_loop().create_server(upstream.Upstream, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield Target("direct", f"http://127.0.0.1:{port}{PATH}", 0)


@asynccontextmanager
async def _gateway(setting: Setting) -> AsyncIterator[Target]:
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        Application(lambda: _services(setting), AccessLog(as_json)),
        interface="asgi3",
        http=ClientConnection,
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
    relay = Relay(registry, keys, open_limiter(loaded.config.http))
    yield Services(registry=registry, relay=relay, desks=Desks(registry, None, ()))
    await outbound.aclose()


def main(requests: int = 200) -> None:
    """Print the functions that take most instructions of a request."""
    counts = count(requests)
    print(f"{sum(counts.values()) / requests:8.0f}  a request")
    for code, number in counts.most_common():
        print(f"{number / requests:8.1f}  {Path(code.co_filename).name}:{code.co_qualname}")


if __name__ == "__main__":
    main()
