"""``POST /mcp``: the MCP tools over streamable HTTP, each request on its own, replies in JSON."""

import asyncio
from collections.abc import Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any, Final

from gateway_core import loopback
from gateway_core.http1.messages import HttpReply
from gateway_core.servers.http.exchange import Exchange

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

Message = MutableMapping[str, Any]
_REFUSED: Final = {
    400: ("invalid_request", "content-type must be application/json"),
    403: ("origin_not_allowed", "this Origin may not use the gateway; see http.allowed_hosts"),
    406: ("not_acceptable", "accept must allow application/json"),
    421: ("host_not_allowed", "this Host is not the gateway's; see http.allowed_hosts"),
}


class McpFace:
    """One MCP server, imported and started by the first request that needs it."""

    def __init__(self, build: "Callable[[], Server[Any]]", hosts: Iterable[str]) -> None:
        """Take what builds the server, and the names to trust as Host and Origin.

        Args:
            build: called once, in a thread.
            hosts: beside loopback's names, with or without a port.
        """
        self._build = build
        self._hosts = (*loopback.HOSTS, *hosts)
        self._stop = asyncio.Event()
        self._serving: asyncio.Task[None] | None = None
        self._starting: asyncio.Task[StreamableHTTPSessionManager] | None = None

    async def answer(self, exchange: Exchange, body: bytes) -> HttpReply:
        """Let the MCP server answer a request whose ``body`` has been read."""
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        manager = await asyncio.shield(self._starting)
        captured = _Captured(body)
        await manager.handle_request(_scope(exchange), captured.receive, captured.send)
        return captured.reply(exchange)

    async def _start(self) -> "StreamableHTTPSessionManager":
        # Importing mcp takes most of a second, in which the relay must go on.
        manager = await asyncio.to_thread(self._manager)
        started = asyncio.Event()
        self._serving = asyncio.create_task(self._serve(manager, started))
        await started.wait()
        return manager

    def _manager(self) -> "StreamableHTTPSessionManager":
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        return StreamableHTTPSessionManager(
            self._build(), json_response=True, stateless=True, security_settings=self._security()
        )

    def _security(self) -> "TransportSecuritySettings":
        from mcp.server.transport_security import TransportSecuritySettings

        origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in self._hosts]
        return TransportSecuritySettings(
            allowed_hosts=_with_any_port(self._hosts), allowed_origins=_with_any_port(origins)
        )

    async def _serve(self, manager: "StreamableHTTPSessionManager", started: asyncio.Event) -> None:
        async with manager.run():
            started.set()
            await self._stop.wait()

    async def aclose(self) -> None:
        """Stop the server, if it was ever started."""
        self._stop.set()
        if self._serving is not None:
            await self._serving


def _scope(exchange: Exchange) -> Message:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "method": exchange.head.method,
        "path": exchange.head.path,
        "root_path": "",
        "query_string": b"",
        "headers": list(exchange.head.headers.items()),
    }


def _with_any_port(names: Iterable[str]) -> list[str]:
    return [spelling for name in names for spelling in (name, f"{name}:*")]


class _Captured:
    """Gives an ASGI application one body, and keeps what it answers."""

    def __init__(self, body: bytes) -> None:
        self._request: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        self._status = 500
        self._headers: list[tuple[bytes, bytes]] = []
        self._body = bytearray()

    async def receive(self) -> Message:
        if self._request:
            return self._request.pop()
        # A client that leaves cancels the whole task: there is nothing else to receive.
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = [
                pair for pair in message.get("headers", ()) if pair[0] != b"content-length"
            ]
        else:
            self._body += message.get("body", b"")

    def reply(self, exchange: Exchange) -> HttpReply:
        is_json = any(value.startswith(b"application/json") for _, value in self._headers)
        if self._status in _REFUSED and not is_json:
            return exchange.refuse(self._status, *_REFUSED[self._status])
        return exchange.named(
            HttpReply(status=self._status, headers=self._headers, body=bytes(self._body))
        )
