"""``POST /mcp``: the MCP tools over streamable HTTP, each request on its own, replies in JSON.

``initialize`` gives a client a session id. It opens nothing: any process takes any id. Its one
use is that a client which sends it with its calls can cancel these by a notification.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any, Final

from gateway_core.door.browsers import PageGuard
from gateway_core.door.refusals import JSON
from gateway_core.http1.messages import HttpReply
from gateway_core.servers.http.exchange import Exchange
from gateway_core.servers.http.mcp_calls import SESSION, CallId, Calls, new_session

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp_types import JSONRPCMessage

    from gateway_core.servers.mcp.messages import IncomingMessage

Message = MutableMapping[str, Any]
_log: Final = logging.getLogger("s1gw.mcp")
_CANCELLED: Final = -32800
"""The code that the ``mcp`` package, too, gives a call which its client cancelled."""
_REFUSED: Final = {
    400: ("invalid_request", "content-type must be application/json"),
    406: ("not_acceptable", "accept must allow application/json"),
}


class McpFace:
    """One MCP server, imported and started by the first request that needs it."""

    def __init__(self, build: "Callable[[], Server[Any]]", hosts: Iterable[str]) -> None:
        """Take what builds the server, and the names to trust as Host and Origin.

        Args:
            build: called in a thread, again only if the server could not be started.
            hosts: beside loopback's names, with or without a port.
        """
        self._build = build
        self._pages = PageGuard(hosts)
        self._calls = Calls()
        self._stop = asyncio.Event()
        self._serving: asyncio.Task[None] | None = None
        self._starting: asyncio.Task[StreamableHTTPSessionManager] | None = None

    async def answer(self, exchange: Exchange, body: bytes) -> HttpReply:
        """Let the MCP server answer a request whose ``body`` has been read.

        Raises:
            RelayRefused: ``host_not_allowed`` or ``origin_not_allowed``.
        """
        self._pages.check(exchange.head.headers)
        try:
            manager = await self._started()
        except (OSError, MemoryError, ImportError) as error:
            _log.error("/mcp could not be started: %s", type(error).__name__)
            return exchange.refuse(
                503, "not_ready", "MCP cannot be served now; try again", {"retry-after": "1"}
            )
        from gateway_core.servers.mcp.messages import read_message

        incoming = read_message(body)
        if incoming.message is None:
            return _refused(exchange, incoming)
        if cancelled := _cancelled_by(exchange, incoming.message):
            if not self._calls.cancel(cancelled):
                _log.debug("a call that is not under way here was cancelled")
            return exchange.with_request_id(HttpReply(status=202, headers=[], body=b""))
        return await self._answered(manager, exchange, incoming.message, _readable(incoming, body))

    async def _answered(
        self,
        manager: "StreamableHTTPSessionManager",
        exchange: Exchange,
        message: "JSONRPCMessage",
        body: bytes,
    ) -> HttpReply:
        captured = _Captured(body)
        working = asyncio.create_task(
            manager.handle_request(_scope(exchange), captured.receive, captured.send)
        )
        call = _call_id(exchange, getattr(message, "id", None))
        with self._calls.under_way(call, working):
            # A client that leaves cancels this, and with it what is awaited.
            try:
                await working
            except asyncio.CancelledError:
                if _is_leaving():
                    raise
                return _cancelled(exchange, message)
        return captured.reply(exchange, gives_session=_is_initialize(message))

    async def _started(self) -> "StreamableHTTPSessionManager":
        """Return what answers, once it is started; an attempt that fails is not kept."""
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
            self._starting.add_done_callback(self._forget_failure)
        return await asyncio.shield(self._starting)

    def _forget_failure(self, starting: "asyncio.Task[StreamableHTTPSessionManager]") -> None:
        if starting.cancelled() or starting.exception() is not None:
            self._starting = None

    async def _start(self) -> "StreamableHTTPSessionManager":
        # Importing mcp takes most of a second, in which the relay must go on.
        manager = await asyncio.to_thread(self._manager)
        started = asyncio.Event()
        self._serving = asyncio.create_task(self._serve(manager, started))
        waiting = asyncio.create_task(started.wait())
        await asyncio.wait((waiting, self._serving), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._serving.done():
            self._serving.result()
        return manager

    def _manager(self) -> "StreamableHTTPSessionManager":
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        # Where requests come from is checked before, by the same rules as on all routes.
        return StreamableHTTPSessionManager(self._build(), json_response=True, stateless=True)

    async def _serve(self, manager: "StreamableHTTPSessionManager", started: asyncio.Event) -> None:
        async with manager.run():
            started.set()
            await self._stop.wait()

    async def aclose(self) -> None:
        """Stop the server, if it was ever started."""
        self._stop.set()
        if self._serving is not None:
            await asyncio.wait((self._serving,))


def _readable(incoming: "IncomingMessage", body: bytes) -> bytes:
    """Return the body that the package is given: without arguments that could not be read."""
    from gateway_core.servers.mcp.refusal import refusal

    if incoming.refusal is None or incoming.message is None:
        return body
    refusal.set(incoming.refusal)
    return incoming.message.model_dump_json(by_alias=True, exclude_unset=True).encode()


def _refused(exchange: Exchange, incoming: "IncomingMessage") -> HttpReply:
    _log.warning("a message was refused: %s", incoming.lost)
    exchange.access.code = "invalid_request"
    return exchange.with_request_id(HttpReply(status=400, headers=[JSON], body=incoming.replies[0]))


def _cancelled(exchange: Exchange, message: "JSONRPCMessage") -> HttpReply:
    from gateway_core.servers.mcp.messages import error_message

    exchange.access.code = "cancelled"
    body = error_message(getattr(message, "id", None), _CANCELLED, "Request cancelled")
    return exchange.with_request_id(HttpReply(status=200, headers=[JSON], body=body))


def _cancelled_by(exchange: Exchange, message: "JSONRPCMessage") -> CallId | None:
    """Return the call that ``message`` cancels, if it is such a notification."""
    if getattr(message, "method", None) != "notifications/cancelled" or hasattr(message, "id"):
        return None
    params = getattr(message, "params", None) or {}
    return _call_id(exchange, params.get("requestId"))


def _call_id(exchange: Exchange, request: Any) -> CallId:
    # Some clients turn the number of a request into text when they cancel it.
    return CallId(exchange.access.key, exchange.head.headers.get(SESSION), str(request))


def _is_initialize(message: "JSONRPCMessage") -> bool:
    return getattr(message, "method", None) == "initialize"


def _is_leaving() -> bool:
    """Say whether it is the request itself that is cancelled, not only what it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


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

    def reply(self, exchange: Exchange, *, gives_session: bool) -> HttpReply:
        is_json = any(value.startswith(b"application/json") for _, value in self._headers)
        if self._status in _REFUSED and not is_json:
            return exchange.refuse(self._status, *_REFUSED[self._status])
        if gives_session and self._status == 200:
            self._headers.append((SESSION, new_session()))
        return exchange.with_request_id(
            HttpReply(status=self._status, headers=self._headers, body=bytes(self._body))
        )
