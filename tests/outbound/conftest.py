"""Raw servers on loopback that do exactly what a test tells them to."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

import attrs
import pytest
import trustme

from gateway_core.context import Endpoint
from gateway_core.outbound import Outbound

OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"


@attrs.frozen
class Request:
    """A request as it came in."""

    line: str
    headers: Mapping[str, str]
    body: bytes
    reader: asyncio.StreamReader = attrs.field(repr=False)

    async def gone(self) -> None:
        """Wait until the client has closed the connection."""
        with suppress(ConnectionError):
            await self.reader.read()


@attrs.define(eq=False)
class RawServer:
    """A server whose answer to every request is a script."""

    script: "Script"
    tls: ssl.SSLContext | None = None
    port: int = 0
    requests: list[Request] = attrs.field(factory=list)
    connections: int = 0
    closed: asyncio.Event = attrs.field(factory=asyncio.Event)
    arrived: asyncio.Event = attrs.field(factory=asyncio.Event)
    writers: list[asyncio.StreamWriter] = attrs.field(factory=list)

    def url(self, path: str = "/v1/systemone", host: str = "127.0.0.1") -> str:
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.append(writer)
        try:
            while not writer.is_closing():
                await self._answer(reader, writer)
        finally:
            writer.close()
            self.closed.set()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.split(": ", 1) for line in head[1:-2])
        if "x-early" not in headers:
            body = await reader.readexactly(int(headers.get("content-length", 0)))
        else:
            body = b""
        self.requests.append(Request(head[0], headers, body, reader))
        self.arrived.set()
        if isinstance(self.script, bytes):
            writer.write(self.script)
        else:
            await self.script(self.requests[-1], writer)
        await writer.drain()


Script = bytes | Callable[[Request, asyncio.StreamWriter], Awaitable[None]]
Serve = Callable[..., AbstractAsyncContextManager[RawServer]]


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Everything here works on both event loops."""
    return "asyncio", {"use_uvloop": request.param}


@asynccontextmanager
async def listening(handler: Any, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Run ``handler`` for each connection; at the end close all and wait for the handlers."""
    writers: list[asyncio.StreamWriter] = []
    tasks: list[asyncio.Task[Any]] = []

    async def tracked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        tasks.append(asyncio.current_task())  # type: ignore[arg-type]
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            await handler(reader, writer)
        writer.close()

    server = await asyncio.start_server(tracked, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for writer in writers:
            writer.transport.abort()
        await asyncio.gather(*tasks)
        await server.wait_closed()


@pytest.fixture
def listen() -> Any:
    return listening


@pytest.fixture
def serve() -> Serve:
    @asynccontextmanager
    async def start(script: Script = OK, tls: ssl.SSLContext | None = None) -> Any:
        raw = RawServer(script, tls)
        async with listening(raw.serve, tls) as raw.port:
            yield raw

    return start


@pytest.fixture
async def outbound() -> AsyncIterator[Outbound]:
    found = Outbound({})
    yield found
    await found.aclose()


@pytest.fixture
def sender(outbound: Outbound) -> Any:
    """A sender of an operator's provider."""
    return outbound.sender(Endpoint())


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="session")
def server_tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("provider.example", "127.0.0.1", "0.0.0.0", "localhost").configure_cert(
        context
    )
    return context


@pytest.fixture
def trusting(authority: trustme.CA, tmp_path: Any) -> dict[str, str]:
    """An environment that trusts the test's authority."""
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(path)
    return {"SSL_CERT_FILE": str(path)}


@pytest.fixture
def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
