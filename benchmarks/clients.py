"""Many connections of one client at once, for what `wrk` cannot do: idle ones, waiting ones."""

import asyncio
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from benchmarks.targets import Target

_HEAD: Final = (
    "POST {path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {key}\r\n"
    "content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
)


class Client:
    """One keep-alive connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def connect(cls, target: Target) -> "Client":
        """Open a connection to ``target``."""
        parts = urlsplit(target.url)
        return cls(*await asyncio.open_connection(parts.hostname, parts.port))

    def send(self, target: Target, body: bytes, key: str) -> None:
        """Send one request."""
        path = urlsplit(target.url).path
        head = _HEAD.format(path=path, key=key, length=len(body))
        self._writer.write(head.encode() + body)

    async def status(self) -> int:
        """Read a whole reply and return its status."""
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length:")[2].split()[0]
        await self._reader.readexactly(int(length))
        return int(head.split()[1])

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()


async def connect_many(target: Target, count: int) -> list[Client]:
    """Open ``count`` connections, a hundred at a time."""
    found: list[Client] = []
    while len(found) < count:
        batch = min(100, count - len(found))
        found += await asyncio.gather(*(Client.connect(target) for _ in range(batch)))
    return found


async def ask_once(target: Target, clients: Iterable[Client], body: bytes) -> list[int]:
    """Send a request on each connection in turn and return the statuses."""
    statuses = []
    for number, client in enumerate(clients):
        client.send(target, body, target.keys[number % len(target.keys)])
        statuses.append(await client.status())
    return statuses
