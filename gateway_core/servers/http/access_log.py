"""The access log: one line a request on stderr, written off the hot path in batches.

A request costs an append. Fifty times a second what has come together is written by a thread,
so that a reader of stderr that falls behind slows nobody down. Writes end at a line's end and
are small enough to be atomic on a pipe, which the workers of one gateway share (pipe(7)).
"""

import asyncio
import logging
import os
import select
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from time import time
from typing import Final

import attrs
import msgspec

from gateway_core.relay.call import CallRecord

LOGGER: Final = "s1gw.access"
_log: Final = logging.getLogger(LOGGER)
FLUSH_S: Final = 0.02
MAX_PENDING: Final = 50_000
_ATOMIC: Final = 4096
_LONGEST_MODEL: Final = 200
_STDERR: Final = 2


@attrs.define(kw_only=True, eq=False)
class Access(CallRecord):
    """One request, as it is logged; never a body, a credential or an address.

    Attributes:
        began: when it came, in seconds of the epoch.
        method: the HTTP method.
        latency_ms: from the request's head to the reply's last byte, in milliseconds.
    """

    began: float = attrs.field(factory=time)
    method: str = "-"
    latency_ms: float = 0.0


_encode: Final = msgspec.json.Encoder().encode


def as_json(entry: Access) -> bytes:
    """Return ``entry`` as one JSON object on one line, with every key always there."""
    line = {
        "time": _stamp(entry),
        "level": "info",
        "request_id": entry.request_id,
        "logger": LOGGER,
        **_fields(entry),
    }
    return _encode(line) + b"\n"


def as_text(entry: Access) -> bytes:
    """Return ``entry`` as one readable line, without what is not known."""
    known = _fields(entry).items()
    fields = " ".join(f"{name}={_plain(value)}" for name, value in known if value is not None)
    return f"{_stamp(entry)} info [{entry.request_id}] {LOGGER}: {fields}\n".encode()


def _fields(entry: Access) -> dict[str, object]:
    return {
        "method": entry.method,
        "route": entry.route,
        "status": entry.status,
        "code": entry.code,
        "key": entry.key,
        "org": entry.org,
        "dialect": entry.dialect,
        "provider": entry.provider,
        "model": entry.model and entry.model[:_LONGEST_MODEL],
        "sent_model": entry.sent_model and entry.sent_model[:_LONGEST_MODEL],
        "upstream_status": entry.upstream_status,
        "bytes_in": entry.bytes_in,
        "bytes_out": entry.bytes_out,
        "latency_ms": round(entry.latency_ms, 3),
        "upstream_ms": entry.upstream_ms and round(entry.upstream_ms, 3),
        "input_tokens": entry.input_tokens,
        "output_tokens": entry.output_tokens,
    }


def _stamp(entry: Access) -> str:
    return datetime.fromtimestamp(entry.began, UTC).isoformat(timespec="milliseconds")


def _plain(value: object) -> str:
    text = str(value)
    return text if text.isascii() and text.isprintable() and " " not in text else ascii(text)


@attrs.define(eq=False)
class AccessLog:
    """Collects entries on the event loop and writes them to stderr.

    Attributes:
        render: what turns an entry into a line; None when the log's level hides them.
        descriptor: the file descriptor that the lines go to.
    """

    render: Callable[[Access], bytes] | None
    descriptor: int = _STDERR
    _pending: list[Access] = attrs.field(factory=list, init=False)
    _dropped: int = attrs.field(default=0, init=False)
    _timer: asyncio.TimerHandle | None = attrs.field(default=None, init=False)
    _writing: asyncio.Future[None] | None = attrs.field(default=None, init=False)

    def add(self, entry: Access) -> None:
        """Log ``entry`` soon; only count it when far too many are waiting already."""
        if self.render is None:
            return
        if len(self._pending) >= MAX_PENDING:
            self._dropped += 1
            return
        self._pending.append(entry)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_S, self._flush)

    def _flush(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        if self._writing is not None and not self._writing.done():
            self._timer = loop.call_later(FLUSH_S, self._flush)
            return
        self._writing = loop.run_in_executor(None, write_lines, self._take(), self.descriptor)

    def _take(self) -> list[bytes]:
        render, pending, self._pending = self.render, self._pending, []
        if self._dropped:
            _log.warning("%d lines of the access log were dropped: stderr is stuck", self._dropped)
            self._dropped = 0
        return [render(entry) for entry in pending] if render is not None else []

    async def close(self) -> None:
        """Write what is left."""
        if self._timer is not None:
            self._timer.cancel()
        if self._writing is not None:
            await self._writing
        await asyncio.to_thread(write_lines, self._take(), self.descriptor)


def write_lines(lines: Iterable[bytes], descriptor: int) -> None:
    """Write whole lines, as many at a time as a pipe takes in one piece."""
    batch: list[bytes] = []
    size = 0
    for line in lines:
        if size + len(line) > _ATOMIC and batch:
            _write_all(descriptor, b"".join(batch))
            batch, size = [], 0
        batch.append(line)
        size += len(line)
    if batch:
        _write_all(descriptor, b"".join(batch))


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:
            select.select((), (descriptor,), ())
        except OSError:
            # Nobody reads the log any more, and there is nowhere to say so.
            return
