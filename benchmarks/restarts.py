"""Restarts under load: `python -m benchmarks.restarts [CLIENTS] [RESTARTS]`.

Each client asks again and again over one connection that it keeps open, until a reply ends it. A
request is lost when it was sent over an open connection and no reply came.
"""

import asyncio
import random
import signal
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final

import attrs

from gateway_core.testing import Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

FACES: Final = ("http", "mcp")
_PAUSE_S: Final = 0.02
_ENOUGH: Final = 3
_LIMIT_S: Final = 60.0
_QUESTION: Final = b'{"model": "m", "state": "x", "questions": {"q": {"type": "noul"}}}'
_LIST: Final = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
_ANSWER: Final = Reply(body={"model": "m", "answers": {}, "usage": {}})
_BODIES: Final = {"http": ("/v1/systemone", _QUESTION), "mcp": ("/mcp", _LIST)}


def request_of(face: str) -> bytes:
    """Return the bytes of one request to a face of the gateway."""
    path, body = _BODIES[face]
    lines = (
        f"POST {path} HTTP/1.1",
        "host: localhost",
        "content-type: application/json",
        "accept: application/json, text/event-stream",
        f"content-length: {len(body)}",
    )
    return "\r\n".join((*lines, "", "")).encode() + body


@attrs.define
class Clients:
    """Clients of one gateway, and what became of their requests.

    Attributes:
        statuses: how many replies had which status.
        lost: how many requests had none.
        asking: how many clients have had some replies.
    """

    port: int
    request: bytes
    statuses: Counter[int] = attrs.field(factory=Counter)
    lost: int = 0
    asking: int = 0

    async def run(self, number: int, restart: "asyncio.Future[None]") -> None:
        """Ask until every connection has ended; ``restart`` is set when all clients are at it."""
        asks = [asyncio.create_task(self._ask()) for _ in range(number)]
        # A thousand clients set no event.
        while self.asking < number and not any(ask.done() for ask in asks):  # noqa: ASYNC110
            await asyncio.sleep(_PAUSE_S)
        restart.set_result(None)
        await asyncio.wait_for(asyncio.gather(*asks), _LIMIT_S)

    async def _ask(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            replies = 0
            # One that was ended meanwhile is not used any more.
            while not reader.at_eof():
                writer.write(self.request)
                if await self._last(reader):
                    return
                replies += 1
                self.asking += replies == _ENOUGH
                await asyncio.sleep(random.uniform(0, _PAUSE_S))
        except (asyncio.IncompleteReadError, ConnectionError):
            self.lost += 1
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _last(self, reader: asyncio.StreamReader) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = head.partition(b"content-length: ")[2].partition(b"\r\n")[0]
        await reader.readexactly(int(length))
        self.statuses[int(head.split()[1])] += 1
        return b"\r\nconnection: close\r\n" in head


async def restarted(gateway: GatewayProcess, face: str, clients: int) -> Clients:
    """Have ``clients`` ask a gateway, and end it amid that.

    Returns:
        What became of their requests.
    """
    found = Clients(gateway.port, request_of(face))
    restart: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(found.run(clients, restart))
    await restart
    gateway.send_signal(signal.SIGTERM)
    await running
    return found


def config(upstream: str, *lines: str) -> str:
    """Return a configuration whose only provider is at the URL ``upstream``."""
    table = f'api_format = "systemone"\nbase_url = "{upstream}"\nmodels = ["m"]\n'
    return "\n".join(("[http]", *lines, "[providers.fake]", table))


def main() -> None:
    """Restart gateways of one process and of several, under load over HTTP and over MCP."""
    clients, restarts = (int(word) for word in [*sys.argv[1:], "1000", "20"][:2])
    with ScriptedUpstream() as upstream:
        upstream.answer(_ANSWER)
        for workers in ("1", "2"):
            for face in FACES:
                lost, statuses = _round(config(upstream.url), workers, face, clients, restarts)
                print(
                    f"{workers} processes, {face}: {restarts} restarts, {clients} clients,"
                    f" replies {dict(statuses)}, lost {lost}",
                    flush=True,
                )


def _round(
    text: str, workers: str, face: str, clients: int, restarts: int
) -> tuple[int, Counter[int]]:
    lost, statuses = 0, Counter[int]()
    for _ in range(restarts):
        options = ("--auth", "disabled", "--workers", workers)
        with (
            tempfile.TemporaryDirectory() as folder,
            GatewayProcess(Path(folder), text, *options) as gateway,
        ):
            found = asyncio.run(restarted(gateway, face, clients))
            lost += found.lost + (gateway.wait() != 0)
            statuses += found.statuses
    return lost, statuses


if __name__ == "__main__":
    main()
