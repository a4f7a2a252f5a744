"""What a scripted upstream receives and answers, and how it reads a request."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final

import attrs

_EMPTY: Final[Mapping[str, str]] = MappingProxyType({})
_NO_BODY: Final = (204, 304)


@attrs.frozen(kw_only=True)
class Received:
    """One request as it came over the wire.

    Attributes:
        method: in upper case.
        path: the request target: path and query as sent.
        headers: lower-case names; of a repeated header the last value.
        body: its bytes, transfer encoding undone and content encoding not.
        connection: the number of the connection it came over, from 1.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    def json(self) -> Any:
        """Parse the body as JSON."""
        return json.loads(self.body)


class Gate:
    """Holds replies back until the test lets them go, from any thread."""

    def __init__(self, patience_s: float | None = None) -> None:
        """Make a closed gate; with ``patience_s`` nobody waits at it for longer."""
        self._patience_s = patience_s
        self._opened = threading.Event()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._lock = threading.Lock()

    def open(self) -> None:
        """Let every reply that waits, and every later one, go."""
        with self._lock:
            self._opened.set()
            for loop, event in self._waiting:
                loop.call_soon_threadsafe(event.set)

    @property
    def is_open(self) -> bool:
        """Whether it has been opened."""
        return self._opened.is_set()

    async def passed(self) -> None:
        """Wait in the server until the gate is open, or for as long as its patience lasts."""
        event = asyncio.Event()
        with self._lock:
            if self._opened.is_set():
                return
            self._waiting.append((asyncio.get_running_loop(), event))
        with suppress(TimeoutError):
            await asyncio.wait_for(event.wait(), self._patience_s)


@attrs.frozen(kw_only=True)
class Reply:
    """A well-formed HTTP reply.

    Attributes:
        status: its HTTP status.
        body: bytes or text as they are; anything else is written as JSON.
        headers: names as written; ``content-length`` and ``content-type`` are filled in.
        gate: holds the reply back until it is opened.
        close: close the connection afterwards without having announced it.
    """

    status: int = 200
    body: Any = b""
    headers: Mapping[str, str] = _EMPTY
    gate: Gate | None = None
    close: bool = False

    @property
    def content(self) -> bytes:
        """The body in bytes."""
        if isinstance(self.body, bytes):
            return self.body
        if isinstance(self.body, str):
            return self.body.encode()
        return json.dumps(self.body, ensure_ascii=False).encode()

    def head(self) -> bytes:
        """Return status line and headers, with the empty line that ends them."""
        headers = {"content-type": "application/json", **self.headers}
        if self.status not in _NO_BODY and "transfer-encoding" not in headers:
            headers.setdefault("content-length", str(len(self.content)))
        phrases = {status.value: status.phrase for status in HTTPStatus}
        lines = [f"HTTP/1.1 {self.status} {phrases.get(self.status, 'Unassigned')}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


@attrs.frozen(kw_only=True)
class Raw:
    """Bytes that need not be HTTP, for replies that break off or break the rules.

    Attributes:
        data: what is written, as it is.
        gate: holds the bytes back until it is opened.
        hold: keep the connection open afterwards until the client leaves.
    """

    data: bytes = b""
    gate: Gate | None = None
    hold: bool = False


ScriptedAnswer = Reply | Raw
Script = ScriptedAnswer | Callable[[Received], ScriptedAnswer | Awaitable[ScriptedAnswer]]


async def read_request(reader: asyncio.StreamReader, connection: int) -> Received | None:
    """Read one request; None when the client closed instead of sending one."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = dict(_header(line) for line in lines)
    body = await _read_body(reader, headers)
    return Received(method=method, path=path, headers=headers, body=body, connection=connection)


def _header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip().lower(), value.strip()


async def _read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if "chunked" not in headers.get("transfer-encoding", ""):
        return await reader.readexactly(int(headers.get("content-length", "0")))
    body = b""
    while size := int((await reader.readline()).split(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body


class Tally:
    """A list that other threads can wait to grow."""

    def __init__(self) -> None:
        self._items: list[Received] = []
        self._changed = threading.Condition()

    def add(self, item: Received) -> None:
        """Append one request."""
        with self._changed:
            self._items.append(item)
            self._changed.notify_all()

    @property
    def items(self) -> Sequence[Received]:
        """What has been added so far."""
        with self._changed:
            return tuple(self._items)

    def wait(self, count: int, timeout_s: float) -> Sequence[Received]:
        """Block until there are ``count`` items; raise ``TimeoutError`` when they do not come."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._items) >= count, timeout_s):
                raise TimeoutError(f"{len(self._items)} of {count} requests in {timeout_s:g} s")
            return tuple(self._items)
