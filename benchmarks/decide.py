"""The decide path: what `system1_decide` takes beside the provider's own time."""

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Any, Final

import attrs

from benchmarks import targets
from benchmarks.clients import Client, connect_many
from benchmarks.effort import Effort
from benchmarks.stdio import StdioServer, stdio_server
from benchmarks.targets import MODEL, Target, port_of

CONCURRENT: Final = (1, 16)
PROVIDER_S: Final = 0.048
"""A provider that answers at once would have all calls wait for one core, and not for it."""
COMMAND: Final = (sys.executable, "-m", "gateway_core.cli", "serve", "--mcp")
_CONFIG: Final = """\
[decide]
chain = ["typesafe"]

[providers.typesafe]
api_format = "systemone"
base_url = "http://127.0.0.1:{port}"
api_key = {{ env = "BENCHMARK_KEY" }}
models = ["{model}"]
"""
_BODY: Final = b'{"model":"m","state":{},"questions":{"decision":{"type":"noul"}}}'
_QUESTION: Final = {
    "question": "Is this ticket urgent?",
    "context": {"ticket": "The site has been down for an hour."},
}


@attrs.frozen(kw_only=True)
class Share:
    """The gateway's own share of a call, in milliseconds; the provider's median is taken off.

    Attributes:
        call: percentiles 50 and 99, from the client's request to its answer.
        gateway: the same for the ``latency_ms`` that the answer tells.
    """

    call: tuple[float, float]
    gateway: tuple[float, float]


def environment_for(folder: Path, provider: Target) -> dict[str, str]:
    """Write a configuration whose chain is ``provider``; return the environment that has it."""
    config = folder / "decide.toml"
    config.write_text(_CONFIG.format(port=port_of(provider), model=MODEL))
    own = {"S1GW_CONFIG": str(config), "S1GW_STATE_DIR": str(folder / "decide-state")}
    return {**os.environ, **own, "BENCHMARK_KEY": "benchmark-provider-key"}


def measure(effort: Effort) -> dict[int, Share]:
    """Return the share by the number of concurrent calls."""
    with tempfile.TemporaryDirectory() as name, targets.upstream(1_000, PROVIDER_S) as provider:
        return asyncio.run(_measure(Path(name), provider, effort.calls))


async def _measure(folder: Path, provider: Target, calls: int) -> dict[int, Share]:
    environment = environment_for(folder, provider)
    shares = {}
    async with stdio_server(COMMAND, environment) as server:
        await server.shake_hands()
        await _call(server)
        for concurrent in CONCURRENT:
            each = max(10, calls // 16)
            direct = median(await _direct(provider, concurrent, each))
            rows = await _staggered(server, concurrent, each)
            shares[concurrent] = Share(
                call=_percentiles([whole - direct for whole, _ in rows]),
                gateway=_percentiles([told - direct for _, told in rows]),
            )
    return shares


async def _staggered(server: StdioServer, count: int, each: int) -> list[tuple[float, float]]:
    async def one(number: int) -> list[tuple[float, float]]:
        await asyncio.sleep(PROVIDER_S * number / count)
        return [await _call(server) for _ in range(each)]

    return [row for rows in await asyncio.gather(*map(one, range(count))) for row in rows]


async def _call(server: StdioServer) -> tuple[float, float]:
    began = perf_counter()
    answer = await server.request("tools/call", {"name": "system1_decide", "arguments": _QUESTION})
    told: dict[str, Any] = answer["result"]["structuredContent"]
    if told["error"] is not None:
        sys.exit(f"the gateway did not decide: {told['error']}")
    return 1000 * (perf_counter() - began), float(told["latency_ms"])


async def _direct(provider: Target, count: int, each: int) -> list[float]:
    clients = await connect_many(provider, count)

    async def one(number: int, client: Client) -> list[float]:
        await asyncio.sleep(PROVIDER_S * number / count)
        taken = []
        for _ in range(each):
            began = perf_counter()
            client.send(provider, _BODY, "none")
            await client.status()
            taken.append(1000 * (perf_counter() - began))
        client.close()
        return taken

    rows = await asyncio.gather(*(one(n, client) for n, client in enumerate(clients)))
    return [value for row in rows for value in row]


def _percentiles(values: list[float]) -> tuple[float, float]:
    return median(values), quantiles(values, n=100)[98]
