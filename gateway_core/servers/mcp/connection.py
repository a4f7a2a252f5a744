"""One client over stdio: what comes in is read, bounded and handed on, and what goes out written.

The ``mcp`` package is given two streams, as every transport gives it. Between them and the
descriptors stands what the package leaves open: a line that it cannot parse is answered, the
requests under way are bounded, and at the end of the input they are still answered.
"""

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from functools import partial
from typing import Final, Self

from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCRequest, JSONRPCResponse
from pydantic_core import PydanticSerializationError

from gateway_core.servers.mcp.in_flight import InFlight
from gateway_core.servers.mcp.lines import Line, Lines
from gateway_core.servers.mcp.messages import IncomingMessage, overlong, read_message
from gateway_core.servers.mcp.output import Output
from gateway_core.servers.mcp.refusal import refusal

MAX_LINE: Final = 4 * 1024 * 1024
"""How many bytes one message may have; ``/mcp`` takes as many."""
_log: Final = logging.getLogger("s1gw.mcp")


class Reading:
    """The stream of messages that the package reads; it ends when the input has ended.

    Attributes:
        last_context: the context in which the last message is to be handled.
    """

    def __init__(self) -> None:
        self.last_context: Context | None = None
        self._waiting: asyncio.Queue[tuple[Context, SessionMessage] | None] = asyncio.Queue(1)
        self._ended = False

    async def put(self, item: tuple[Context, SessionMessage] | None) -> None:
        """Give the next message, or None at the end."""
        await self._waiting.put(item)

    async def receive(self) -> SessionMessage:
        """Return the next message; raises ``StopAsyncIteration`` at the end."""
        return await self.__anext__()

    async def aclose(self) -> None:
        """Do nothing: whoever gives the messages knows when they end."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        item = None if self._ended else await self._waiting.get()
        if item is None:
            self._ended = True
            raise StopAsyncIteration
        self.last_context, message = item
        return message

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None


class Writing:
    """The stream of messages that the package writes."""

    def __init__(self, output: Output, in_flight: InFlight) -> None:
        self._output = output
        self._in_flight = in_flight

    async def send(self, item: SessionMessage, /) -> None:
        """Have one message written; a request is settled when its reply waits to be."""
        message = item.message
        try:
            await self._output.send(_encoded(message))
        finally:
            if isinstance(message, JSONRPCResponse | JSONRPCError):
                self._in_flight.settle(message.id)

    async def aclose(self) -> None:
        """Do nothing: the output ends with the process."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None


class McpConnection:
    """One client.

    Attributes:
        reading: what the package reads.
        writing: what the package writes to.
    """

    def __init__(self, lines: Lines, output: Output) -> None:
        self.reading = Reading()
        self._in_flight = InFlight()
        self.writing = Writing(output, self._in_flight)
        self._lines = lines
        self._output = output

    async def run(self, longest_call_s: Callable[[], float]) -> None:
        """Hand on what comes until the input ends, and its requests have their replies.

        Args:
            longest_call_s: says, at the end of the input, how long that may take.
        """
        while (line := await self._lines.next()) is not None:
            if line.head.strip():
                await self._take(_read(line), len(line.head))
        with suppress(TimeoutError):
            await asyncio.wait_for(self._in_flight.none(), longest_call_s())
        await self.reading.put(None)

    async def _take(self, incoming: IncomingMessage, size: int) -> None:
        if incoming.lost:
            _log.warning("a message was refused: %s", incoming.lost)
        for reply in incoming.replies:
            await self._output.send(reply)
        if incoming.message is None:
            return
        context = copy_context()
        context.run(refusal.set, incoming.refusal)
        metadata = await self._counted(incoming.message, size)
        await self.reading.put((context, SessionMessage(incoming.message, metadata)))

    async def _counted(self, message: JSONRPCMessage, size: int) -> ServerMessageMetadata | None:
        if not isinstance(message, JSONRPCRequest):
            return None
        await self._in_flight.add(message.id, size)
        return ServerMessageMetadata(on_request_unanswered=partial(self._unanswered, message.id))

    async def _unanswered(self, identity: int | str) -> None:
        self._in_flight.settle(identity)


def _read(line: Line) -> IncomingMessage:
    if line.tail is None:
        return read_message(line.head)
    return overlong(line.head, line.tail, MAX_LINE)


def _encoded(message: JSONRPCMessage) -> bytes:
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except (PydanticSerializationError, UnicodeEncodeError):
        # Half a surrogate pair has no UTF-8, but an escape.
        return json.dumps(message.model_dump(by_alias=True, exclude_unset=True)).encode()
