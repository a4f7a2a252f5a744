"""Content encodings of a reply undone, never to more than the cap."""

import sys
import zlib
from collections.abc import Callable
from typing import Final, Protocol

from gateway_core.errors import MalformedResponse
from gateway_core.outbound.reply import MAX_REPLY_BYTES
from gateway_core.types import DecisionReply

ACCEPT_ENCODING: Final = "gzip, deflate, zstd"
_OF_THE_CODING: Final = ("content-encoding", "content-length")
_GZIP: Final = 16 + zlib.MAX_WBITS
_MAX_CODINGS: Final = 3
_MAX_FRAMES: Final = 64
# The largest window that RFC 9659 lets a zstd content encoding ask for: 8 MiB.
_ZSTD_WINDOW_LOG: Final = 23


def decoded(reply: DecisionReply) -> DecisionReply:
    """Return ``reply`` with its content encodings undone, the last one first.

    Raises:
        MalformedResponse: an encoding is unknown, the body is not in it, or what comes out is
            larger than 10 MiB.
    """
    try:
        body = _decode(reply.headers["content-encoding"], reply.body)
    except MalformedResponse:
        # A refusal is known by its status, however badly its text came over.
        if 200 <= reply.status < 300:
            raise
        body = b""
    kept = {name: text for name, text in reply.headers.items() if name not in _OF_THE_CODING}
    return DecisionReply(body=body, status=reply.status, headers=kept)


def _decode(named: str, body: bytes) -> bytes:
    codings = [coding.strip().lower() for coding in named.split(",")]
    if len(codings) > _MAX_CODINGS:
        raise MalformedResponse("the reply is encoded too many times")
    for coding in reversed(codings):
        body = _undo(coding, body)
    return body


def _undo(coding: str, body: bytes) -> bytes:
    if coding in ("", "identity") or not body:
        return body
    if coding in ("gzip", "x-gzip"):
        return _inflate(body, _GZIP)
    if coding == "deflate":
        # RFC 9110 means the zlib format; some servers send the bare stream.
        return _inflate(body, zlib.MAX_WBITS if body[0] & 15 == 8 else -zlib.MAX_WBITS)
    if coding == "zstd":
        return _zstd(body)
    raise MalformedResponse("the reply has an unknown content encoding")


class _Stream(Protocol):
    """What the decompressors of ``zlib`` and ``zstd`` have in common."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _inflate(body: bytes, wbits: int) -> bytes:
    return _join_frames(body, lambda: zlib.decompressobj(wbits), zlib.error)


def _zstd(body: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    options = {int(zstd.DecompressionParameter.window_log_max): _ZSTD_WINDOW_LOG}
    return _join_frames(body, lambda: zstd.ZstdDecompressor(options=options), zstd.ZstdError)


def _join_frames(body: bytes, start: Callable[[], _Stream], fault: type[Exception]) -> bytes:
    """Decode the frames of ``body``; their number is bounded, as each costs a copy."""
    pieces: list[bytes] = []
    size = 0
    for _ in range(_MAX_FRAMES):
        stream = start()
        try:
            pieces.append(stream.decompress(body, MAX_REPLY_BYTES + 1 - size))
        except fault:
            raise MalformedResponse("the reply is not in its content encoding") from None
        size += len(pieces[-1])
        if size > MAX_REPLY_BYTES:
            raise MalformedResponse("the reply is larger than 10 MiB")
        if not stream.eof:
            raise MalformedResponse("the reply ended early")
        body = stream.unused_data
        if not body:
            return b"".join(pieces)
    raise MalformedResponse("the reply is encoded in too many pieces")
