# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""What a client sends on one connection: its requests, in the order in which they come."""

import asyncio
from typing import Final

from gateway_core.errors import RelayRefused
from gateway_core.http1.head import Head
from gateway_core.http1.requests import Malformed, RequestParser
from gateway_core.servers.http.body import RequestBody
from gateway_core.servers.http.exchange import Exchange, open_exchange

MAX_WAITING: Final = 32
"""How many requests may wait for the reply before theirs until no more are parsed."""
_SLICE: Final = 16 * 1024
"""How many bytes are parsed at once where requests may begin; it bounds how many wait."""
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


class RequestQueue:
    """Takes requests in; holds the client back that sends more than is answered.

    Attributes:
        parser: what the client's bytes go to.
        current: the request that is being answered.
        waiting: those that came after it.
        fault: what came after all these and is no request, until it is answered.
        reading: whether the client may send more.
        stopped: whether the client may be sending what nobody reads.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        """Take the connection, which is read from."""
        peer = transport.get_extra_info("peername")
        self.parser = RequestParser(self._begin)
        self.current: Exchange | None = None
        # A deque sets room aside for 64, on every connection.
        self.waiting: list[Exchange] = []
        self.fault: Malformed | None = None
        self.stopped = False
        self._client: str = peer[0] if peer else ""
        self._transport = transport
        self.reading = True
        self._unparsed: bytes | memoryview = b""

    def feed(self, data: bytes | memoryview) -> None:
        """Parse what the client sent, as far as not too many requests wait."""
        if self._unparsed:
            data = b"".join((self._unparsed, data))
            self._unparsed = b""
        try:
            # A body is taken in one piece: no request begins in it.
            while len(data) > _SLICE and self.parser.body is None:
                if len(self.waiting) >= MAX_WAITING:
                    # Copied: the buffer is read into again.
                    self._unparsed = bytes(data)
                    return
                self.parser.feed(data[:_SLICE])
                data = data[_SLICE:]
            self.parser.feed(data)
        except Malformed as fault:
            self.refuse(fault)

    def refuse(self, fault: Malformed) -> None:
        """Read nothing more; answer the requests that are whole, then refuse for ``fault``.

        A fault in a body fails the request of that body. If that request has its reply already, the
        fault is dropped.
        """
        in_body = self.parser.body is not None
        self.stop()
        last = self.waiting[-1] if self.waiting else self.current
        if last is not None and not last.body.complete:
            last.body.fail(RelayRefused(fault.code, fault.sentence))
        elif not in_body:
            self.fault = fault

    def stop(self) -> None:
        """Take no notice of what the client sends from now on."""
        self.parser.stop()
        self.stopped = True

    @property
    def empty(self) -> bool:
        """Whether nothing waits to be answered."""
        return not self.waiting and self.fault is None

    def next(self) -> Exchange:
        """Make the request current that came first of those that wait."""
        self.current = exchange = self.waiting.pop(0)
        if not self.reading and not self.waiting:
            self.read_on()
        return exchange

    def hold(self) -> None:
        """Have the client send no more for now."""
        if self.reading:
            self.reading = False
            self._transport.pause_reading()

    def read_on(self) -> None:
        """Parse what is left, and have the client send more."""
        if self._unparsed:
            rest, self._unparsed = self._unparsed, b""
            self.feed(rest)
        if not self.reading and not self.waiting and not self._transport.is_closing():
            self.reading = True
            self._transport.resume_reading()

    def proceed(self) -> None:
        """Have the client send more of a body, now that all that came of it is read."""
        if not self.waiting:
            self.read_on()
        exchange = self.current
        if exchange is not None and exchange.expects_continue and not exchange.body.complete:
            exchange.expects_continue = False
            self._transport.write(_CONTINUE)

    def _begin(self, head: Head) -> RequestBody:
        if self.current is not None or self.waiting:
            self.hold()
        body = RequestBody(self)
        self.waiting.append(open_exchange(head, self._client, body))
        return body
