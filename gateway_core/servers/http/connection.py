"""One connection of a client: requests in, one answered after the other, bounded in every way.

It takes the place of uvicorn's own protocol, which bounds neither a head nor the time that a
request takes to come in, answers what is not HTTP in plain text, and writes a reply in two
pieces. uvicorn keeps the sockets, the processes and the shutdown.
"""

import asyncio
from collections import deque
from typing import Any, ClassVar, Final, cast

from uvicorn.config import Config
from uvicorn.server import ServerState

from gateway_core.errors import RelayRefused
from gateway_core.relay.call import RelayReply
from gateway_core.servers.http.app import Application
from gateway_core.servers.http.body import ClientGone, RequestBody, Valve
from gateway_core.servers.http.deadline import Deadline
from gateway_core.servers.http.exchange import EXPECT, Exchange, open_exchange
from gateway_core.servers.http.parser import Head, Malformed, RequestParser, TooSlow
from gateway_core.servers.http.reply import send

MAX_PIPELINED: Final = 32
"""How many requests may wait for the reply before theirs; nobody honest sends more ahead."""
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


class ClientConnection(asyncio.BufferedProtocol):
    """Reads requests, has them answered, writes the replies.

    A client that leaves cancels the task that answers it. When a reply is given before its
    request is whole, the rest is read and dropped for a while, so that a client that is still
    sending gets to read the reply (RFC 9112 §9.6).

    Attributes:
        keep_alive_s: how long a client may wait with its next request, in seconds.
        head_s: how long a request's head may take.
        body_s: how long its body may take.
        linger_s: how long the rest of a request that has its reply is read.
        send_s: how long a client may take nothing of a reply.
    """

    keep_alive_s: ClassVar = 75.0
    head_s: ClassVar = 20.0
    body_s: ClassVar = 120.0
    linger_s: ClassVar = 5.0
    send_s: ClassVar = 60.0

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],  # noqa: ARG002 - uvicorn's signature
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """Prepare a connection; the arguments are uvicorn's."""
        self._app: Application = config.loaded_app
        self._state = server_state
        self._loop = _loop or asyncio.get_running_loop()
        self._parser = RequestParser(self._begin)
        self._deadline = Deadline(self._loop, self._expire)
        self._transport: asyncio.Transport
        self._client = ""
        self._current: Exchange | None = None
        self._task: asyncio.Task[None] | None = None
        self._queue: deque[Exchange] = deque()
        self._valve: Valve
        self._stuck = False
        self._last = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request."""
        self._transport = cast("asyncio.Transport", transport)
        self._valve = Valve(self._transport)
        peer = transport.get_extra_info("peername")
        self._client = peer[0] if peer else ""
        self._state.connections.add(self)  # type: ignore[arg-type]
        self._deadline.set(self.head_s)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Stop what is under way: nobody waits for it."""
        self._state.connections.discard(self)
        self._deadline.stop()
        self._queue.clear()
        if self._current is not None and self._task is not None:
            self._current.abandoned = True
            self._current.body.fail(ClientGone())
            if self._current.begun:
                self._task.cancel()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's signature
        """Return where to read to."""
        return self._app.reading

    def buffer_updated(self, nbytes: int) -> None:
        """Take what the client sent."""
        try:
            self._parser.feed(self._app.reading[:nbytes])
        except Malformed as fault:
            self._reject(fault)
        if self._current is None:
            self._settle()
        elif self._parser.in_body:
            self._deadline.within(self.body_s)
        else:
            self._deadline.clear()

    def pause_writing(self) -> None:
        """Note that the client takes no more for now."""
        self._stuck = True

    def resume_writing(self) -> None:
        """Go on: the client has taken what was waiting."""
        self._stuck = False
        self._settle()

    def shutdown(self) -> None:
        """Answer what is under way and no more; called by uvicorn."""
        self._last = True
        if self._current is None:
            self._transport.close()

    def _begin(self, head: Head) -> RequestBody:
        body = RequestBody(self._want, self._valve.close)
        exchange = open_exchange(head, self._client, body)
        if self._current is None and not self._stuck and not self._last:
            self._start(exchange)
        elif len(self._queue) < MAX_PIPELINED:
            self._queue.append(exchange)
            self._valve.close()
        else:
            raise Malformed
        return body

    def _start(self, exchange: Exchange) -> None:
        self._deadline.clear()
        self._current = exchange
        self._task = self._loop.create_task(self._answer(exchange))
        self._state.tasks.add(self._task)

    async def _answer(self, exchange: Exchange) -> None:
        task, exchange.begun = self._task, True
        try:
            reply = await self._app.answer(exchange)
            self._write(exchange, reply)
            self._app.log(exchange, reply)
        finally:
            if task is not None:
                self._state.tasks.discard(task)
            self._current = None
            exchange.body.discard()
            self._settle()

    def _write(self, exchange: Exchange, reply: RelayReply) -> None:
        if exchange.abandoned:
            return
        if not exchange.body.complete and exchange.asks_first:
            # Whether the body follows is open now, so that no next request can be told from it
            # (RFC 9110 §10.1.1).
            self._parser.stop()
            self._last = True
        self._last = self._last or not exchange.head.keep_alive
        send(
            reply,
            self._transport,
            self._state.default_headers,
            keep_alive=not self._last,
            with_body=exchange.head.method != "HEAD",
        )

    def _settle(self) -> None:
        """Do what is next, unless a request is being answered."""
        if self._current is not None or self._transport.is_closing():
            return
        if not self._queue:
            self._valve.open()
        if self._stuck:
            self._deadline.within(self.send_s)
        elif self._parser.in_body and not self._queue:
            self._deadline.within(self.linger_s)
        elif self._last:
            self._deadline.within(self.send_s)
            self._transport.close()
        elif self._queue:
            self._start(self._queue.popleft())
        elif self._parser.in_head:
            self._deadline.within(self.head_s)
        else:
            self._deadline.set(self.keep_alive_s)

    def _reject(self, fault: Malformed) -> None:
        """Answer what is no request, unless another one's reply is due."""
        lingering = self._current is None and self._parser.in_body
        self._parser.stop()
        self._last = True
        if self._current is None and not lingering:
            send(self._app.reject(fault), self._transport)
        elif self._current is not None and not self._current.body.complete:
            self._current.body.fail(RelayRefused(fault.code, fault.sentence))

    def _expire(self) -> None:
        if self._current is not None or self._parser.in_head:
            self._reject(TooSlow())
            self._settle()
        elif self._stuck or self._transport.is_closing():
            self._transport.abort()
        else:
            self._transport.close()

    def _want(self) -> None:
        """Have the client send more, now that all that came is read."""
        if not self._queue:
            self._valve.open()
        exchange = self._current
        if exchange is not None and not exchange.body.complete and exchange.asks_first:
            del exchange.head.headers[EXPECT]
            self._transport.write(_CONTINUE)
