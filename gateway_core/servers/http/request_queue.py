"""What a client sends on one connection: its requests, in the order in which they come."""

import asyncio
from typing import Final

from gateway_core.http1.head import EXPECT, Head
from gateway_core.http1.requests import Malformed, RequestParser
from gateway_core.servers.http.body import RequestBody
from gateway_core.servers.http.exchange import Exchange, open_exchange

MAX_PIPELINED: Final = 32
"""How many requests may wait for the reply before theirs; nobody honest sends more ahead."""
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


class Inbox:
    """Takes requests in; holds the client back that sends more than is answered.

    Attributes:
        parser: what the client's bytes go to.
        current: the request that is being answered.
        waiting: those that came after it.
        reading: whether the client may send more.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        """Take the connection, which is read from."""
        peer = transport.get_extra_info("peername")
        self.parser = RequestParser(self._begin)
        self.current: Exchange | None = None
        # A deque sets room aside for 64, on every connection.
        self.waiting: list[Exchange] = []
        self.reading = True
        self._client: str = peer[0] if peer else ""
        self._transport = transport

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
        """Have the client send more."""
        if not self.reading and not self._transport.is_closing():
            self.reading = True
            self._transport.resume_reading()

    def proceed(self) -> None:
        """Have the client send more of a body, now that all that came of it is read."""
        if not self.waiting:
            self.read_on()
        exchange = self.current
        if exchange is not None and not exchange.body.complete and exchange.asks_first:
            del exchange.head.headers[EXPECT]
            self._transport.write(_CONTINUE)

    def _begin(self, head: Head) -> RequestBody:
        if self.current is not None or self.waiting:
            if len(self.waiting) >= MAX_PIPELINED:
                raise Malformed
            self.hold()
        body = RequestBody(self)
        self.waiting.append(open_exchange(head, self._client, body))
        return body
