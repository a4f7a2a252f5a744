# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""Replies that the server makes itself, and how any reply goes over the wire."""

import asyncio
from collections.abc import Iterable, Mapping
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Final

import msgspec

from gateway_core.door.refusals import JSON, envelope
from gateway_core.http1.messages import HttpReply

Pairs = Iterable[tuple[bytes, bytes]]
_NONE: Final[Mapping[str, str]] = {}
_STATUS_LINES: Final = {
    status.value: b"HTTP/1.1 %d %s" % (status, status.phrase.encode()) for status in HTTPStatus
}
_ONE_PIECE: Final = 64 * 1024
_line: Final = b": ".join
_FORBIDDEN: Final = (b"\r", b"\n", b"\0")


def json_reply(status: int, content: Any) -> HttpReply:
    """Return ``content`` as a JSON reply."""
    return HttpReply(status=status, headers=[JSON], body=msgspec.json.encode(content))


def refusal_reply(
    status: int, code: str, message: str, headers: Mapping[str, str] = _NONE
) -> HttpReply:
    """Return a refusal of the server's own, in the envelope that all refusals have."""
    extra = [(name.encode("latin-1"), text.encode("latin-1")) for name, text in headers.items()]
    return HttpReply(status=status, headers=[JSON, *extra], body=envelope(status, code, message))


def write_reply(
    reply: HttpReply,
    transport: asyncio.WriteTransport,
    standing: Pairs = (),
    *,
    keep_alive: bool = False,
    with_body: bool = True,
) -> None:
    """Write a reply, in one piece if it is not large.

    Args:
        reply: what is sent.
        transport: where it goes.
        standing: headers that every reply has.
        keep_alive: whether the connection stays open.
        with_body: whether the body goes along, which one to HEAD does not have.
    """
    opening = _opening(reply.status, tuple(standing), keep_alive)
    fields = _fields(reply)
    body = reply.body if with_body else b""
    if len(body) <= _ONE_PIECE:
        transport.write(b"".join((opening, fields, body)))
    else:
        transport.writelines((opening + fields, body))


@lru_cache
def _opening(status: int, standing: tuple[tuple[bytes, bytes], ...], keep_alive: bool) -> bytes:
    """Return the lines that are the same for many replies: the date changes once a second."""
    lines = [_STATUS_LINES.get(status) or b"HTTP/1.1 %d " % status, *map(_line, standing)]
    if not keep_alive:
        lines.append(b"connection: close")
    return b"\r\n".join((*lines, b""))


def _fields(reply: HttpReply) -> bytes:
    """Return the lines of one reply, with the empty one that ends a head."""
    length = b"content-length: %d\r\n\r\n" % len(reply.body)
    fields = b"\r\n".join([*map(_line, reply.headers), length])
    ends = len(reply.headers) + 2
    if fields.count(b"\n") != ends or fields.count(b"\r") != ends or 0 in fields:
        return _fields(_cleaned(reply))
    return fields


def _cleaned(reply: HttpReply) -> HttpReply:
    """Leave out headers that would end their line (RFC 9110 §5.5): plugins set some, too."""
    kept = [
        pair
        for pair in reply.headers
        if not any(byte in part for part in pair for byte in _FORBIDDEN)
    ]
    return HttpReply(status=reply.status, headers=kept, body=reply.body)
