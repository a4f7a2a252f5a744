# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""One HTTP/1.1 connection: one request at a time, each written exactly once."""

import asyncio
import select
from collections.abc import Callable
from typing import Final, Protocol, cast

from gateway_core.causes import Cause
from gateway_core.errors import MalformedResponse, ProviderError, ProviderUnreachable
from gateway_core.http1.replies import ReplyReader
from gateway_core.outbound.target import RouteKey
from gateway_core.types import DecisionReply

_CLOSED: Final = "the connection was closed before a reply came"
_ONE_WRITE: Final = 64 * 1024
_PIECE: Final = 256 * 1024
_NOTHING: Final = memoryview(b"")


class Owner(Protocol):
    """Who is told about a connection's life.

    Attributes:
        reading: where all its connections are read to, which one event loop runs: what comes is
            parsed before anything else is read.
    """

    reading: memoryview

    def opened(self, connection: "Connection") -> None:
        """It is connected."""

    def freed(self, connection: "Connection", keep_alive: str | None) -> None:
        """It may carry another request, for as long as the ``keep-alive`` header says."""

    def lost(self, connection: "Connection") -> None:
        """It is closed."""


class Connection(asyncio.BufferedProtocol):
    """Carries requests one after the other and tells its owner when it is free or gone.

    A request is never sent again, whatever happens: a provider that is asked twice may bill
    twice. What can be known beforehand is: ``alive`` looks at the socket itself, so that a
    connection which the upstream closed while it was idle is not written to.
    """

    def __init__(self, key: RouteKey, owner: Owner) -> None:
        self.key = key
        self.idle_until = 0.0
        self._owner = owner
        self._reading = owner.reading
        self._reader = ReplyReader()
        self._waiter: asyncio.Future[DecisionReply] | None = None
        self._unsent = _NOTHING
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the transport, and the socket below it for ``alive``."""
        self._transport = cast("asyncio.Transport", transport)
        self._poll = _poll(transport.get_extra_info("socket").fileno())
        self._owner.opened(self)

    def alive(self) -> bool:
        """Whether the idle connection is still open and silent, as the kernel sees it."""
        return not self._transport.is_closing() and not self._poll(0)

    def abort(self) -> None:
        """Close at once."""
        self._transport.abort()

    async def exchange(self, head: bytes, body: bytes, *, head_only: bool) -> DecisionReply:
        """Write one request and return its reply, the body still encoded.

        Raises:
            MalformedResponse: the reply broke a rule, or ended early.
            ProviderUnreachable: the connection broke before the reply's head.
        """
        transport = self._transport
        if transport.is_closing():
            raise ProviderUnreachable(_CLOSED, cause=Cause.CLOSED_EARLY)
        waiter: asyncio.Future[DecisionReply] = asyncio.get_running_loop().create_future()
        self._waiter = waiter
        self._reader.begin(head_only=head_only)
        if len(body) <= _ONE_WRITE:
            transport.write(head + body)
        else:
            self._write_in_pieces(head, body)
        try:
            return await waiter
        except BaseException:
            # After the reply came the connection may already serve someone else.
            if self._waiter is waiter:
                self._waiter = None
                transport.abort()
            raise
        finally:
            # Its exception holds this frame, and so would hold itself, and the body, for long.
            del waiter

    def _write_in_pieces(self, head: bytes, body: bytes) -> None:
        self._transport.write(head)
        self._unsent = memoryview(body)
        self._write_more()

    def _write_more(self) -> None:
        while self._unsent and not self._paused:
            piece, self._unsent = self._unsent[:_PIECE], self._unsent[_PIECE:]
            self._transport.write(piece)
        if not self._unsent:
            # Even an empty view would keep the whole body in memory.
            self._unsent = _NOTHING

    def pause_writing(self) -> None:
        """Keep the rest of the body back while the upstream does not read."""
        self._paused = True

    def resume_writing(self) -> None:
        """Go on with the rest of the body."""
        self._paused = False
        self._write_more()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where to read to."""
        del sizehint
        return self._reading

    def buffer_updated(self, nbytes: int) -> None:
        """Read a piece of the reply; what nobody asked for closes the connection."""
        if self._waiter is None:
            self._transport.abort()
            return
        try:
            if self._reader.feed(self._reading[:nbytes]):
                self._finish()
        except MalformedResponse as error:
            self._fail(error)

    def eof_received(self) -> None:
        """Close at once: with unsent data a transport would wait for the upstream to read it."""
        self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the request under way, if there is one, and leave the pool."""
        self._owner.lost(self)
        if self._waiter is not None:
            self._end_early(exc)
        self._reader.close()

    def _end_early(self, exc: Exception | None) -> None:
        # A reset is no end: what came before it may be a part only.
        if exc is None and self._reader.end():
            self._finish()
        elif self._reader.status:
            self._fail(MalformedResponse("the reply ended early", cause=Cause.CUT_SHORT))
        else:
            self._fail(ProviderUnreachable(_CLOSED, cause=Cause.CLOSED_EARLY))

    def _finish(self) -> None:
        waiter, self._waiter = self._waiter, None
        reply, transport = self._reader.take(), self._transport
        sent = not self._unsent and not transport.get_write_buffer_size()
        if sent and self._reader.reusable and not transport.is_closing():
            self._owner.freed(self, reply.headers.get("keep-alive"))
        else:
            transport.abort()
        if waiter is not None and not waiter.done():
            waiter.set_result(reply)

    def _fail(self, error: ProviderError) -> None:
        # A refusal is known by its status, however badly its text came over.
        if self._reader.status and not 200 <= self._reader.status < 300:
            self._reader.reusable = False
            self._finish()
            return
        error.status = self._reader.status or None
        waiter, self._waiter = self._waiter, None
        self._transport.abort()
        if waiter is not None and not waiter.done():
            waiter.set_exception(error)


def _poll(descriptor: int) -> Callable[[int], object]:
    """Return what tells, within some milliseconds, whether there is anything to read.

    The end of the stream counts as something.
    """
    if not hasattr(select, "poll"):
        return lambda wait_ms: select.select([descriptor], [], [], wait_ms / 1000)[0]
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return poll.poll
