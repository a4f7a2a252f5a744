"""Replies that the server makes itself, and how any reply goes over the wire."""

import asyncio
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final

import msgspec

from gateway_core.relay.call import RelayReply
from gateway_core.relay.replies import JSON, envelope

Pairs = Iterable[tuple[bytes, bytes]]
_NONE: Final[Mapping[str, str]] = {}
_STATUS_LINES: Final = {
    status.value: b"HTTP/1.1 %d %s\r\n" % (status, status.phrase.encode()) for status in HTTPStatus
}
_ONE_PIECE: Final = 64 * 1024
_line: Final = b"%b: %b\r\n".__mod__
_FORBIDDEN: Final = (b"\r", b"\n", b"\0")


def json_reply(status: int, content: Any) -> RelayReply:
    """Return ``content`` as a JSON reply."""
    return RelayReply(status=status, headers=[JSON], body=msgspec.json.encode(content))


def refusal(status: int, code: str, message: str, headers: Mapping[str, str] = _NONE) -> RelayReply:
    """Return a refusal of the server's own, in the envelope that all refusals have."""
    extra = [(name.encode("latin-1"), text.encode("latin-1")) for name, text in headers.items()]
    return RelayReply(status=status, headers=[JSON, *extra], body=envelope(status, code, message))


def send(
    reply: RelayReply,
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
    head = _head(reply, standing, keep_alive=keep_alive)
    if not with_body:
        transport.write(head)
    elif len(reply.body) <= _ONE_PIECE:
        transport.write(head + reply.body)
    else:
        transport.writelines((head, reply.body))


def _head(reply: RelayReply, standing: Pairs, *, keep_alive: bool) -> bytes:
    lines = [_STATUS_LINES.get(reply.status) or b"HTTP/1.1 %d \r\n" % reply.status]
    lines += map(_line, standing)
    lines += map(_line, reply.headers)
    lines.append(b"content-length: %d\r\n" % len(reply.body))
    if not keep_alive:
        lines.append(b"connection: close\r\n")
    head = b"".join(lines)
    if head.count(b"\n") != len(lines) or head.count(b"\r") != len(lines) or b"\0" in head:
        return _head(_cleaned(reply), standing, keep_alive=keep_alive)
    return head + b"\r\n"


def _cleaned(reply: RelayReply) -> RelayReply:
    """Leave out headers that would end their line (RFC 9110 §5.5): plugins set some, too."""
    kept = [
        pair
        for pair in reply.headers
        if not any(byte in part for part in pair for byte in _FORBIDDEN)
    ]
    return RelayReply(status=reply.status, headers=kept, body=reply.body)
