"""The access log: one line a request on stderr, written off the hot path in batches.

A request costs an append. Fifty times a second what has come together is written by a thread,
so that a reader of stderr that falls behind slows nobody down. Writes end at a line's end and
are small enough to be atomic on a pipe, which the workers of one gateway share (pipe(7)).
"""

import asyncio
import logging
import os
import select
from collections.abc import Callable, Sequence
from typing import Final, Self

import attrs
import msgspec

from gateway_core.causes import Cause
from gateway_core.config.model import LogConfig
from gateway_core.door.access import ACCESS_LOGGER, AccessEntry
from gateway_core.logs import visible_json

_log: Final = logging.getLogger(ACCESS_LOGGER)
FLUSH_S: Final = 0.02
MAX_PENDING: Final = 50_000
_ATOMIC: Final = 4096
_STDERR: Final = 2
_REFUSED: Final = 400
_OUR_FAULT: Final = 500
_OURS_TOO: Final = ("rate_limit_exceeded", "provider_overloaded")
"""Codes of upstreams' failures that the gateway refuses with as well: then no attempt failed."""
_ORDER: Final = {"debug": 0, "info": 1, "warning": 2, "error": 3}
PROBES: Final = frozenset({"/healthz", "/readyz"})
UPSTREAM_FAILURES: Final = frozenset(
    {
        *("upstream_error", "upstream_invalid_response", "gateway_timeout", "provider_overloaded"),
        *("provider_key_rejected", "provider_payment_required", "model_not_found"),
        *("provider_base_url_blocked", "provider_base_url_unusable"),
        # The codes of the decide contract.
        *("provider_error", "provider_timeout", "malformed_response"),
    }
)
"""Codes of replies that are an upstream's fault, or that of its configuration."""
_HEADING: Final = ("time", "level", "request_id", "logger")

Render = Callable[[Sequence[AccessEntry]], bytes]
_encode: Final = msgspec.json.Encoder().encode_lines
_DELETE: Final = b"\x7f"


def as_json(entries: Sequence[AccessEntry]) -> bytes:
    """Make one JSON object on one line of each entry, with every key always there."""
    lines = _encode(entries)
    if lines.isascii() and _DELETE not in lines:
        return lines
    # What callers name may hold characters that end a line in a reader, or turn it round.
    return "".join(visible_json(line) + "\n" for line in lines.decode().split("\n")[:-1]).encode()


def as_text(entries: Sequence[AccessEntry]) -> bytes:
    """Make one readable line of each entry, without what is not known."""
    return "".join(map(_text_line, entries)).encode()


def _text_line(entry: AccessEntry) -> str:
    fields = " ".join(
        f"{name}={_plain(value)}"
        for name, value in msgspec.structs.asdict(entry).items()
        if value is not None and name not in _HEADING
    )
    return f"{entry.time} {entry.level} [{entry.request_id}] {entry.logger}: {fields}\n"


def _plain(value: object) -> str:
    text = str(value)
    return text if text.isascii() and text.isprintable() and " " not in text else ascii(text)


@attrs.define(eq=False)
class AccessLog:
    """Collects entries on the event loop and writes them to stderr.

    Attributes:
        render: what turns entries into lines; None when the log's level hides them.
        descriptor: the file descriptor that the lines go to.
        least: the least important level that is written.
        probes: whether requests to ``/healthz`` and ``/readyz`` have lines.
    """

    render: Render | None
    descriptor: int = _STDERR
    least: str = "info"
    probes: bool = True
    _pending: list[AccessEntry] = attrs.field(factory=list, init=False)
    _dropped: int = attrs.field(default=0, init=False)
    _timer: asyncio.TimerHandle | None = attrs.field(default=None, init=False)
    _writing: asyncio.Future[None] | None = attrs.field(default=None, init=False)

    @classmethod
    def of(cls, log: LogConfig) -> Self:
        """Return a log that writes to stderr what ``[log]`` asks for."""
        found = cls(None)
        found.configure(log)
        return found

    def configure(self, log: LogConfig) -> None:
        """Write from now on what ``[log]`` asks for."""
        self.render = as_json if log.format == "json" else as_text
        self.least, self.probes = log.level, log.probes

    def add(self, entry: AccessEntry) -> None:
        """Log ``entry`` soon; only count it when far too many are waiting already."""
        if entry.status >= _REFUSED:
            entry.level = level_of(entry)
        if self.render is None or self._is_hidden(entry):
            return
        if len(self._pending) >= MAX_PENDING:
            self._dropped += 1
            return
        self._pending.append(entry)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_S, self._flush)

    def _is_hidden(self, entry: AccessEntry) -> bool:
        if entry.route in PROBES and not self.probes:
            return True
        return _ORDER[entry.level] < _ORDER[self.least]

    def _flush(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        if self._writing is not None and not self._writing.done():
            self._timer = loop.call_later(FLUSH_S, self._flush)
            return
        self._writing = loop.run_in_executor(None, write_lines, self._take(), self.descriptor)

    def _take(self) -> bytes:
        pending, self._pending = self._pending, []
        if self._dropped:
            _log.warning("%d lines of the access log were dropped: stderr is stuck", self._dropped)
            self._dropped = 0
        return self.render(pending) if self.render is not None else b""

    def flush(self) -> None:
        """Write what is left, and wait for it: the process ends now."""
        write_lines(self._take(), self.descriptor)

    async def close(self) -> None:
        """Write what is left."""
        if self._timer is not None:
            self._timer.cancel()
        if self._writing is not None:
            await self._writing
        await asyncio.to_thread(write_lines, self._take(), self.descriptor)


def level_of(entry: AccessEntry) -> str:
    """Return how important a refusal is: our own 5xx, an upstream's failure, or the caller's."""
    if entry.code in _OURS_TOO:
        failed = entry.cause not in (None, Cause.SHORTAGE)
    else:
        failed = entry.code in UPSTREAM_FAILURES
    if failed:
        return "warning"
    return "error" if entry.status >= _OUR_FAULT else "info"


def write_lines(lines: bytes, descriptor: int) -> None:
    """Write whole lines, as many at a time as a pipe takes in one piece."""
    start = 0
    while start < len(lines):
        end = lines.rfind(b"\n", start, start + _ATOMIC) + 1 or lines.index(b"\n", start) + 1
        _write_all(descriptor, lines[start:end])
        start = end


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:
            select.select((), (descriptor,), ())
        except OSError:
            # Nobody reads the log any more, and there is nowhere to say so.
            return
