"""One connection of a client: requests in, one answered after the other, bounded in every way.

It takes the place of uvicorn's own protocol, which bounds neither a head nor the time that a
request takes to come in, answers what is not HTTP in plain text, and writes a reply in two
pieces. uvicorn keeps the sockets, the processes and the shutdown.
"""

import asyncio
from typing import Any, cast

from uvicorn.config import Config
from uvicorn.server import ServerState

from gateway_core.errors import RelayRefused
from gateway_core.relay.call import RelayReply
from gateway_core.servers.http.app import Application
from gateway_core.servers.http.body import ClientGone
from gateway_core.servers.http.deadline import Deadline
from gateway_core.servers.http.exchange import Exchange
from gateway_core.servers.http.inbox import Inbox
from gateway_core.servers.http.parser import Malformed, TooSlow
from gateway_core.servers.http.reply import send


class ClientConnection(asyncio.BufferedProtocol):
    """Reads requests, has them answered, writes the replies.

    A client that leaves cancels the task that answers it. When a reply is given before its
    request is whole, or instead of one, the rest is read and dropped for a while, so that a client
    that is still sending gets to read the reply (RFC 9112 §9.6).
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],  # noqa: ARG002 - uvicorn's signature
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """Prepare a connection; the arguments are uvicorn's."""
        self._app: Application = config.loaded_app
        self._patience = self._app.patience
        self._state = server_state
        self._loop = _loop or asyncio.get_running_loop()
        self._deadline = Deadline(self._loop, self._expire)
        self._transport: asyncio.Transport
        self._inbox: Inbox
        self._task: asyncio.Task[None]
        self._stuck = False
        self._left = 0
        self._last = False
        self._deaf = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request."""
        self._transport = cast("asyncio.Transport", transport)
        if not self._app.crowd.admit(self, self._transport):
            return
        self._inbox = Inbox(self._transport)
        self._state.connections.add(self)  # type: ignore[arg-type]
        self._deadline.set(self._patience.head_s)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Stop what is under way: nobody waits for it."""
        if not self._app.crowd.leave(self):
            return
        self._state.connections.discard(self)
        self._deadline.stop()
        self._inbox.waiting.clear()
        if (exchange := self._inbox.current) is not None:
            exchange.abandoned = True
            exchange.body.fail(ClientGone())
            if exchange.begun:
                self._task.cancel()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's signature
        """Return where to read to."""
        return self._app.reading

    def buffer_updated(self, nbytes: int) -> None:
        """Take what the client sent."""
        try:
            self._inbox.parser.feed(self._app.reading[:nbytes])
        except Malformed as fault:
            # What came whole before it is answered first.
            self._settle()
            self._reject(fault)
        exchange = self._inbox.current
        if exchange is None:
            self._settle()
        elif exchange.body.complete:
            self._deadline.clear()

    def pause_writing(self) -> None:
        """Note that the client takes no more for now."""
        self._stuck = True
        self._left = self._transport.get_write_buffer_size()

    def resume_writing(self) -> None:
        """Go on: the client has taken what was waiting."""
        self._stuck = False
        self._settle()

    def shutdown(self) -> None:
        """Answer what is under way and no more; called by uvicorn."""
        self._last = True
        if self._inbox.current is None:
            self._transport.close()

    def _settle(self) -> None:
        """Do what is next, unless a request is being answered."""
        inbox = self._inbox
        if inbox.current is not None or self._transport.is_closing():
            return
        if self._stuck:
            self._deadline.within(self._patience.send_s)
        elif inbox.waiting and not self._last:
            self._start(inbox.next())
        else:
            self._wait()

    def _start(self, exchange: Exchange) -> None:
        self._deadline.clear()
        if not exchange.body.complete:
            self._deadline.set(self._patience.body_s)
        self._task = task = self._loop.create_task(self._app.answer(exchange, self._finish))
        self._state.tasks.add(task)

    def _finish(self, exchange: Exchange, reply: RelayReply) -> None:
        """Give the client its reply, and go on."""
        try:
            if not exchange.abandoned:
                self._write(exchange, reply)
        finally:
            self._state.tasks.discard(self._task)
            self._inbox.current = None
            if not exchange.body.complete:
                exchange.body.discard()
            self._settle()

    def _write(self, exchange: Exchange, reply: RelayReply) -> None:
        if not exchange.body.complete and exchange.asks_first:
            # Whether the body follows is open now, so that no next request can be told from it
            # (RFC 9110 §10.1.1).
            self._stop_hearing()
        self._last = self._last or not exchange.head.keep_alive
        standing, with_body = self._state.default_headers, exchange.head.method != "HEAD"
        send(reply, self._transport, standing, keep_alive=not self._last, with_body=with_body)

    def _wait(self) -> None:
        """Wait for the next request, or for the end."""
        inbox = self._inbox
        if not inbox.reading:
            inbox.read_on()
        if inbox.parser.body is not None:
            self._deadline.within(self._patience.linger_s)
        elif self._last:
            self._close()
        elif inbox.parser.in_head:
            self._deadline.within(self._patience.head_s)
        else:
            self._deadline.set(self._patience.keep_alive_s)

    def _close(self) -> None:
        if not self._deaf:
            self._deadline.within(self._patience.send_s)
            self._transport.close()
        else:
            # A close with bytes unread is a reset, which may take the reply from the client.
            self._deadline.within(self._patience.linger_s)
            if self._transport.can_write_eof():
                self._transport.write_eof()

    def _stop_hearing(self) -> None:
        self._inbox.parser.stop()
        self._deaf = self._last = True

    def _reject(self, fault: Malformed) -> None:
        """Answer what is no request, unless another one's reply is due."""
        exchange, lingering = self._inbox.current, self._inbox.parser.body is not None
        self._stop_hearing()
        if exchange is None and not lingering:
            send(self._app.reject(fault), self._transport)
        elif exchange is not None and not exchange.body.complete:
            exchange.body.fail(RelayRefused(fault.code, fault.sentence))

    def _expire(self) -> None:
        if self._inbox.current is not None or self._inbox.parser.in_head:
            self._reject(TooSlow())
            self._settle()
        elif self._stuck or self._transport.is_closing():
            self._judge_taking()
        else:
            self._transport.close()

    def _judge_taking(self) -> None:
        """Go on with a client that takes its reply slowly; be done with one that takes nothing."""
        before, self._left = self._left, self._transport.get_write_buffer_size()
        if self._left < before:
            self._deadline.set(self._patience.send_s)
        else:
            self._transport.abort()
