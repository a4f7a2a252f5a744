"""Content encodings of a reply undone, never to more than the cap."""

import sys
import zlib
from typing import Final

from gateway_core.errors import MalformedResponse
from gateway_core.outbound.reply import MAX_REPLY_BYTES, Reply

ACCEPT_ENCODING: Final = "gzip, deflate, zstd"
_GZIP: Final = 16 + zlib.MAX_WBITS
_MAX_CODINGS: Final = 3


def decode(reply: Reply) -> bytes:
    """Return the body of ``reply`` with its content encodings undone, the last one first.

    Raises:
        MalformedResponse: an encoding is unknown, the body is not in it, or what comes out is
            larger than 10 MiB.
    """
    named = reply.headers.get("content-encoding")
    if named is None:
        return reply.body
    codings = [coding.strip().lower() for coding in named.split(",")]
    if len(codings) > _MAX_CODINGS:
        raise MalformedResponse("the reply is encoded too many times")
    body = reply.body
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


def _inflate(body: bytes, wbits: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while body:
        stream = zlib.decompressobj(wbits)
        try:
            piece = stream.decompress(body, MAX_REPLY_BYTES + 1 - size)
        except zlib.error:
            raise MalformedResponse("the reply is not in its content encoding") from None
        size += len(piece)
        pieces.append(piece)
        _check(size, whole=stream.eof)
        body = stream.unused_data
    return b"".join(pieces)


def _zstd(body: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    pieces: list[bytes] = []
    size = 0
    while body:
        stream = zstd.ZstdDecompressor()
        try:
            piece = stream.decompress(body, max_length=MAX_REPLY_BYTES + 1 - size)
        except zstd.ZstdError:
            raise MalformedResponse("the reply is not in its content encoding") from None
        size += len(piece)
        pieces.append(piece)
        _check(size, whole=stream.eof)
        body = stream.unused_data
    return b"".join(pieces)


def _check(size: int, *, whole: bool) -> None:
    if size > MAX_REPLY_BYTES:
        raise MalformedResponse("the reply is larger than 10 MiB")
    if not whole:
        raise MalformedResponse("the reply ended early")
