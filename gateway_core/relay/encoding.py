"""The content encodings of request bodies, undone within a bound."""

import zlib
from collections.abc import Callable
from typing import Any, Final, Protocol

from gateway_core.errors import RelayRefused

_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS
_RAW_DEFLATE: Final = -zlib.MAX_WBITS
_ZSTD_WINDOW_LOG: Final = 23
"""8 MiB, the largest window that the content encoding allows (RFC 9659)."""


_MOST_FRAMES: Final = 64
"""No client sends more; each costs a copy of what follows it."""


SET_BY: Final = "the limit is http.max_body_bytes, at most 32 MiB"


class Oversized(Exception):
    """More comes out of a body than it may hold."""


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class Decoder:
    """One content encoding, over as many frames or members as a body has."""

    def __init__(self, new: Callable[[bytes], _Decompressor]) -> None:
        self._new = new
        self._current: _Decompressor | None = None
        self._frames = 0

    def feed(self, data: bytes, room: int) -> bytes:
        """Decode ``data``; raise ``Oversized`` when more than ``room`` bytes come out."""
        out: list[bytes] = []
        while data:
            if self._current is None:
                self._current = self._next_frame(data)
            piece = _decompress(self._current, data, room + 1)
            room -= len(piece)
            if room < 0:
                raise Oversized
            out.append(piece)
            data = self._rest()
        return b"".join(out)

    def _next_frame(self, data: bytes) -> _Decompressor:
        self._frames += 1
        if self._frames > _MOST_FRAMES:
            raise _malformed()
        return self._new(data)

    def _rest(self) -> bytes:
        """Return what is left for the next frame, when this one has ended."""
        if self._current is None or not self._current.eof:
            return b""
        rest = self._current.unused_data
        self._current = None
        return rest

    def finish(self) -> None:
        """Refuse a body that ends in the middle of a frame."""
        if self._current is not None:
            raise _malformed()


def _decompress(inner: _Decompressor, data: bytes, room: int) -> bytes:
    try:
        return inner.decompress(data, room)
    # Python looks at this only once something was raised, and zstd is not imported before.
    except (zlib.error, _zstd().ZstdError):
        raise _malformed() from None


def _zstd() -> Any:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from backports import zstd
    return zstd


def _new_gzip(_: bytes) -> _Decompressor:
    return zlib.decompressobj(_GZIP_OR_ZLIB)


def _new_deflate(head: bytes) -> _Decompressor:
    # "deflate" means zlib (RFC 9110 §8.4.1.2), yet some clients send it bare; a zlib header
    # is a multiple of 31 with method 8 (RFC 1950 §2.2).
    zlib_header = head[0] & 15 == 8 and (len(head) < 2 or (head[0] << 8 | head[1]) % 31 == 0)
    return zlib.decompressobj(zlib.MAX_WBITS if zlib_header else _RAW_DEFLATE)


def _new_zstd(_: bytes) -> _Decompressor:
    zstd = _zstd()
    limits = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
    found: _Decompressor = zstd.ZstdDecompressor(options=limits)
    return found


_KNOWN: Final[dict[str, Callable[[bytes], _Decompressor]]] = {
    "gzip": _new_gzip,
    "x-gzip": _new_gzip,
    "deflate": _new_deflate,
    "zstd": _new_zstd,
}


def decoder_for(encoding: str) -> Decoder | None:
    """Return what undoes ``encoding``; None when there is nothing to undo.

    Raises:
        RelayRefused: ``unsupported_content_encoding``.
    """
    if encoding in ("", "identity"):
        return None
    if encoding not in _KNOWN:
        raise RelayRefused(
            "unsupported_content_encoding",
            "the body's content-encoding must be gzip, deflate or zstd, or absent",
            "content-encoding",
            headers={"accept-encoding": "gzip, deflate, zstd"},
        )
    return Decoder(_KNOWN[encoding])


def too_large(limit: int, way_out: str = SET_BY) -> RelayRefused:
    """Return the refusal of a body that is over the limit.

    Args:
        limit: how many bytes it may have, before and after decompression.
        way_out: what the limit is set by.
    """
    return RelayRefused(
        "request_too_large", f"the request's body is larger than {limit} bytes; {way_out}"
    )


def _malformed() -> RelayRefused:
    return RelayRefused(
        "invalid_request", "the body is not what its content-encoding says", "content-encoding"
    )
