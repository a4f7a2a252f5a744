# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""The application: has a request answered, whatever goes wrong, and logs one line of it."""

import asyncio
import gc
import logging
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, Final

from gateway_core import logs
from gateway_core.door.access import AccessEntry, elapsed_ms
<<<<<<< HEAD
from gateway_core.door.refusals import refusal
=======
from gateway_core.door.refusals import refusal as refused
from gateway_core.door.refusals import short_of_resources
>>>>>>> breaker
from gateway_core.door.request_ids import own_ids
from gateway_core.errors import GatewayError
from gateway_core.http1.messages import HttpReply
from gateway_core.http1.requests import Malformed
from gateway_core.http1.states import ClientTimeouts, moves
from gateway_core.passing import is_shortage
from gateway_core.servers.http.access_log import AccessLog
from gateway_core.servers.http.allocator import keep_freed_memory
from gateway_core.servers.http.body import ClientGone
from gateway_core.servers.http.crowd import Crowd
from gateway_core.servers.http.exchange import Exchange, new_request_id
from gateway_core.servers.http.life import Life
from gateway_core.servers.http.opened import Opened, Opener
from gateway_core.servers.http.reply import refusal_reply
from gateway_core.servers.http.routes import find
from gateway_core.servers.http.services import Services

_log: Final = logging.getLogger("s1gw.http")
_GARBAGE: Final = 50_000
"""How many objects may pile up before some are looked at: a request makes no garbage that only a
look finds, and some hundred requests under way hold more than Python's own 700."""
_READ_BYTES: Final = 256 * 1024
CLIENT_GONE: Final = 499
"""nginx's status for a client that did not wait; nobody receives it."""
_NO_REPLY: Final = HttpReply(status=CLIENT_GONE, headers=[], body=b"")

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
OnReply = Callable[[Exchange, HttpReply], None]


class Application:
    """What every connection of one process shares; the lifespan opens and closes it.

    Attributes:
        timeouts: how long clients may take.
        moves: what state of a connection may follow which, and how long it may last.
        crowd: how many may be connected.
        life: how far the process is in its life.
        access_log: where the line of each request goes.
        reading: where all connections are read to: what comes is parsed before anything else is
            read, and copied once, when the parser hands over a piece of a body.
    """

    def __init__(
        self,
        opener: Opener,
        access_log: AccessLog,
        timeouts: ClientTimeouts | None = None,
        crowd: Crowd | None = None,
        life: Life | None = None,
    ) -> None:
        """Take what opens the services on the event loop that will use them."""
        self.timeouts = timeouts or ClientTimeouts()
        self.moves = moves(self.timeouts)
        self.crowd = crowd or Crowd()
        self.life = life or Life()
        self.access_log = access_log
        self._opener = opener
        self._opened: Opened
        self._services: Services
        self.reading = memoryview(bytearray(_READ_BYTES))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the lifespan, which is all that comes as ASGI; see ``ClientConnection``."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)

    async def answer(self, exchange: Exchange, on_reply: OnReply) -> None:
        """Have one request answered, whatever goes wrong; hand on its reply, and log both."""
        access, exchange.begun = exchange.access, True
        logs.request_id.set(access.request_id)
        try:
            reply = await find(exchange)(self._services, exchange)
        # The top level: nothing that goes wrong may leave a request without its reply.
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - see above
            reply = _excuse(exchange, error)
        on_reply(exchange, reply)
        access.status = reply.status
        access.bytes_out = len(reply.body)
        access.latency_ms = elapsed_ms(exchange.started)
        self.access_log.add(access)

    def reject(self, fault: Malformed) -> HttpReply:
        """Answer what never became a request, and note it."""
        reply = refusal_reply(fault.status, fault.code, fault.sentence)
        access = AccessEntry(request_id=new_request_id(), status=fault.status, code=fault.code)
        access.bytes_out = len(reply.body)
        self.access_log.add(access)
        reply.headers += own_ids(access.request_id)
        return reply

    @property
    def services(self) -> Services:
        """What the requests that begin now are served with."""
        return self._services

    def swap(self, opened: Opened) -> Opened:
        """Serve the requests that begin from now on with other services; return the former.

        Requests under way go on with those that they began with.
        """
        former, self._opened = self._opened, opened
        self._services = opened.services
        return former

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        asyncio.get_running_loop().set_exception_handler(_log_stray_fault)
        try:
            self._opened = await Opened.by(self._opener)
        except GatewayError as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        self._services = self._opened.services
        # What is there now stays: looking for garbage in it only delays requests.
        gc.freeze()
        gc.set_threshold(_GARBAGE)
        keep_freed_memory()
        await send({"type": "lifespan.startup.complete"})
        try:
            await receive()
        finally:
            await self._opened.aclose()
        await self.access_log.close()
        await send({"type": "lifespan.shutdown.complete"})


def _excuse(exchange: Exchange, error: BaseException) -> HttpReply:
    """Return the reply to a request that ``error`` was raised for."""
    match error:
        case GatewayError():
            return refusal(error, exchange.access)
        case ClientGone():
            return _NO_REPLY
        case asyncio.CancelledError():
            return _NO_REPLY if exchange.abandoned else _shutting_down(exchange)
    if is_shortage(error):
        _log.error("short of descriptors or memory: %s at %s", type(error).__name__, _place(error))
        return refused(short_of_resources(), exchange.access)
    # It is our fault, and its text may hold anything.
    _log.error("%s at %s", type(error).__name__, _place(error))
    return exchange.refuse(500, "internal_error", "the gateway failed; its log says where")


def _shutting_down(exchange: Exchange) -> HttpReply:
    # Only the server itself cancels, when the time to drain is over.
    message = "the gateway is shutting down"
    return exchange.refuse(503, "provider_overloaded", message, {"retry-after": "1"})


def _place(error: BaseException) -> str:
    """Say where ``error`` was raised, without its text."""
    frames = traceback.extract_tb(error.__traceback__)
    return " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames[-6:]))


def _log_stray_fault(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    description = f"{type(error).__name__} at {_place(error)}" if error else context.get("message")
    _log.error("in the background: %s", description)
