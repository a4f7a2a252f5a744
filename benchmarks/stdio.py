"""An MCP server on stdio, spoken to line by line, so that the client costs next to nothing."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any, Final

from benchmarks.processes import GATEWAY_CORE, need

_LINE_LIMIT: Final = 1 << 20
_HELLO: Final = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


class StdioServer:
    """One running server; requests may overlap."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._reading = asyncio.create_task(self._read())

    async def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request and return the whole answer."""
        number = len(self._waiting) + 1
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        self._write({"id": number, "method": method, "params": params})
        return await answer

    async def shake_hands(self) -> None:
        """Initialize."""
        await self.request("initialize", _HELLO)
        self._write({"method": "notifications/initialized"})

    def _write(self, message: Mapping[str, Any]) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def _read(self) -> None:
        lines = self._process.stdout
        while lines is not None and (line := await lines.readline()):
            message = json.loads(line)
            if "id" in message:
                self._waiting[message["id"]].set_result(message)

    async def end(self) -> None:
        """Close its input and wait for its end."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        await self._process.wait()
        await self._reading


@asynccontextmanager
async def stdio_server(
    command: Sequence[str], environment: Mapping[str, str]
) -> AsyncIterator[StdioServer]:
    """Run ``command`` on the gateway's core."""
    process = await asyncio.create_subprocess_exec(
        need("taskset"),
        "-c",
        GATEWAY_CORE,
        *command,
        env=dict(environment),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=_LINE_LIMIT,
    )
    server = StdioServer(process)
    try:
        yield server
    finally:
        await server.end()


async def seconds_to_initialize(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """Return how long it takes from the spawn to the answer of ``initialize``."""
    began = perf_counter()
    async with stdio_server(command, environment) as server:
        await server.shake_hands()
        return perf_counter() - began
