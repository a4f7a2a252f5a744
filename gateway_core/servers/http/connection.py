# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""One connection of a client: requests in, one answered after the other, bounded in every way.

It takes the place of uvicorn's own protocol, which bounds neither a head nor the time that a
request takes to come in, answers what is not HTTP in plain text, and writes a reply in two
pieces. uvicorn keeps the sockets, the processes and the shutdown.

What a connection may do next, and how long it may take, stands in ``http1.states``.
"""

import asyncio
from typing import Any, Final, cast

from uvicorn.config import Config
from uvicorn.server import ServerState

from gateway_core.http1.messages import HttpReply
from gateway_core.http1.requests import Malformed, RequestParser, TooSlow
from gateway_core.http1.states import State
from gateway_core.servers.http.app import Application
from gateway_core.servers.http.body import ClientGone
from gateway_core.servers.http.deadline import Deadline
from gateway_core.servers.http.exchange import Exchange
from gateway_core.servers.http.reply import write_reply
from gateway_core.servers.http.request_queue import RequestQueue
from gateway_core.servers.http.unread import unread

LAST_WORD_S: Final = 2.0
"""How long a client that is connected must have been silent before it is closed at the end."""
_TURN_S: Final = 0.01
_OPEN_ENDED: Final = (State.OPENED, State.IDLE)
_FLUSHING: Final = (State.BLOCKED, State.CLOSING)


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
        self._moves = self._app.moves
        self._server = server_state
        self._loop = _loop or asyncio.get_running_loop()
        self._deadline = Deadline(self._loop, self._expire)
        self._transport: asyncio.Transport
        self._queue: RequestQueue
        self._task: asyncio.Task[None]
        self._state = State.OPENED
        # Whether the connection ends with the reply to the last request that came, and whether
        # that reply, which says so, was given.
        self._ending = False
        self._closes = False
        # Whether the client does not take what was written, and how much of it is left.
        self._blocked = False
        self._unsent_bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request."""
        self._transport = cast("asyncio.Transport", transport)
        if not self._app.crowd.admit(self, self._transport):
            return
        self._queue = RequestQueue(self._transport)
        self._ending = self._app.life.draining
        self._server.connections.add(self)  # type: ignore[arg-type]
        self._deadline.set(self._app.timeouts.head_s)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Stop what is under way: nobody waits for it."""
        if not self._app.crowd.leave(self):
            return
        self._server.connections.discard(self)
        self._deadline.stop()
        self._queue.waiting.clear()
        if (exchange := self._queue.current) is not None:
            exchange.abandoned = True
            exchange.body.fail(ClientGone())
            if exchange.begun:
                self._task.cancel()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's signature
        """Return where to read to."""
        return self._app.reading

    def buffer_updated(self, nbytes: int) -> None:
        """Take what the client sent."""
        queue = self._queue
        queue.feed(self._app.reading[:nbytes])
        if queue.current is None:
            self._advance()
        elif self._state is State.BODY and queue.current.body.complete:
            self._enter(State.ANSWERING)

    def pause_writing(self) -> None:
        """Note that the client takes no more for now."""
        self._blocked = True
        self._unsent_bytes = self._transport.get_write_buffer_size()

    def resume_writing(self) -> None:
        """Go on: the client has taken what was waiting."""
        self._blocked = False
        if self._queue.current is None:
            self._advance()

    def retire(self) -> None:
        """Go on, and end with the next reply, which tells the client so."""
        self._ending = True

    def shutdown(self) -> None:
        """Answer what came and no more; called by uvicorn.

        A client that has just asked may be about to ask again, and a request that crosses the
        close on its way is lost. So a connection is closed once it has been silent for
        ``LAST_WORD_S``; a request that comes before is answered, and its reply ends the connection.
        """
        self._ending = True
        if self._state in _OPEN_ENDED:
            timeouts = self._app.timeouts
            usual = timeouts.keep_alive_s if self._state is State.IDLE else timeouts.head_s
            silent = usual - self._deadline.left()
            self._deadline.set(max(LAST_WORD_S - silent, 0.0))
        elif self._queue.current is None and self._state is not State.HEAD:
            # Its last reply has not been taken yet, or the rest of a body is read and dropped.
            self._closes = True

    def _enter(self, state: State) -> None:
        """Go over to ``state``, and limit the time that it may last; to stay changes nothing.

        Raises:
            KeyError: the table does not have ``state`` after the present one.
        """
        if state is not self._state:
            seconds = self._moves[self._state][state]
            self._state = state
            if seconds is None:
                self._deadline.clear()
            else:
                self._deadline.set(seconds)

    def _advance(self) -> None:
        """Do what is next, now that no request is being answered."""
        queue = self._queue
        if self._transport.is_closing():
            return
        if self._blocked:
            self._enter(State.BLOCKED)
        elif queue.waiting:
            self._start(queue.next())
        elif queue.fault is not None:
            self._refuse(queue.fault)
        else:
            if not queue.reading:
                queue.read_on()
            self._await_more(queue.parser)

    def _start(self, exchange: Exchange) -> None:
        self._enter(State.ANSWERING if exchange.body.complete else State.BODY)
        self._task = task = self._loop.create_task(self._app.answer(exchange, self._finish))
        self._server.tasks.add(task)

    def _finish(self, exchange: Exchange, reply: HttpReply) -> None:
        """Give the client its reply, and go on."""
        try:
            if not exchange.abandoned:
                self._write(exchange, reply)
        finally:
            self._server.tasks.discard(self._task)
            self._queue.current = None
            if not exchange.body.complete:
                exchange.body.discard()
            self._advance()

    def _write(self, exchange: Exchange, reply: HttpReply) -> None:
        queue = self._queue
        if exchange.expects_continue and not exchange.body.complete:
            # Whether the body follows is open now, so that no next request can be told from it
            # (RFC 9110 §10.1.1).
            queue.stop()
        if queue.parser.ended or not exchange.head.keep_alive:
            self._ending = True
        standing, with_body = self._server.default_headers, exchange.head.method != "HEAD"
        keep_alive = True
        if self._ending and queue.empty:
            keep_alive, self._closes = False, True
        write_reply(reply, self._transport, standing, keep_alive=keep_alive, with_body=with_body)

    def _refuse(self, fault: Malformed) -> None:
        """Answer what is no request, after all that came before it."""
        self._queue.fault = None
        write_reply(self._app.reject(fault), self._transport)
        self._close()

    def _await_more(self, parser: RequestParser) -> None:
        """Wait for the next request, or for the end."""
        if parser.body is not None:
            self._enter(State.LINGERING)
        elif self._closes or parser.ended:
            self._close()
        elif parser.in_head:
            self._enter(State.HEAD)
        elif self._state is not State.OPENED:
            self._enter(State.IDLE)

    def _close(self) -> None:
        if not self._queue.stopped:
            self._enter(State.CLOSING)
            self._transport.close()
        elif self._state is not State.SHUT:
            # A close with bytes unread is a reset, which may take the reply from the client.
            self._enter(State.SHUT)
            if self._transport.can_write_eof():
                self._transport.write_eof()

    def _expire(self) -> None:
        """Do what the table says of a state whose time is over."""
        if self._state in (State.HEAD, State.BODY):
            self._queue.refuse(TooSlow())
            if self._queue.current is None:
                self._advance()
        elif self._state in _FLUSHING:
            self._check_write_progress()
        elif self._state in _OPEN_ENDED and unread(self._transport):
            # A request came in the same moment: it is read first.
            self._deadline.set(_TURN_S)
        else:
            self._enter(State.CLOSING)
            self._transport.close()

    def _check_write_progress(self) -> None:
        """Go on with a client that takes its reply slowly; drop one that takes nothing."""
        before, self._unsent_bytes = self._unsent_bytes, self._transport.get_write_buffer_size()
        if self._unsent_bytes < before:
            self._deadline.set(self._app.timeouts.send_s)
        else:
            self._transport.abort()
