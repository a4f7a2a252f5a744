"""Content codings undone within a bound, for request and reply bodies alike."""

import zlib
from collections.abc import Callable
from enum import Enum
from typing import Any, Final, Protocol

ACCEPTED: Final = "gzip, deflate, zstd"
"""The codings that are undone, as ``accept-encoding`` names them."""

_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS
_RAW_DEFLATE: Final = -zlib.MAX_WBITS
_ZSTD_WINDOW_LOG: Final = 23
"""8 MiB, the largest window that the content coding allows (RFC 9659)."""
_MAX_FRAMES: Final = 64
"""No client and no server sends more; each costs a copy of what follows it."""
_MAX_CODINGS: Final = 3


class CodingFault(Enum):
    """What is wrong with an encoded body."""

    UNKNOWN = "its content encoding is unknown"
    TOO_MANY = "it is encoded too many times"
    MALFORMED = "it is not in its content encoding"
    CUT_SHORT = "it ended early"
    TOO_LARGE = "it is too large"


class Undecodable(Exception):
    """A body cannot be decoded; whoever reads it turns this into an error of its own.

    Attributes:
        fault: why.
    """

    def __init__(self, fault: CodingFault) -> None:
        super().__init__(fault.value)
        self.fault = fault


class _Decompressor(Protocol):
    """What the decompressors of ``zlib`` and ``zstd`` have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class Decoder:
    """One content coding, over as many frames or members as a body has."""

    def __init__(self, new: Callable[[bytes], _Decompressor]) -> None:
        self._new = new
        self._current: _Decompressor | None = None
        self._frames = 0

    def feed(self, data: bytes, room: int) -> bytes:
        """Decode ``data``, the next piece of the body.

        Args:
            data: the piece.
            room: how many bytes may come out of it.

        Raises:
            Undecodable: ``data`` is not in the coding, or more than ``room`` comes out.
        """
        out: list[bytes] = []
        while data:
            if self._current is None:
                self._current = self._next_frame(data)
            piece = _decompress(self._current, data, room + 1)
            room -= len(piece)
            if room < 0:
                raise Undecodable(CodingFault.TOO_LARGE)
            out.append(piece)
            data = self._rest()
        return b"".join(out)

    def _next_frame(self, data: bytes) -> _Decompressor:
        self._frames += 1
        if self._frames > _MAX_FRAMES:
            raise Undecodable(CodingFault.MALFORMED)
        return self._new(data)

    def _rest(self) -> bytes:
        """Return what is left for the next frame, when this one has ended."""
        if self._current is None or not self._current.eof:
            return b""
        rest = self._current.unused_data
        self._current = None
        return rest

    def finish(self) -> None:
        """Raise ``Undecodable`` if the body ends in the middle of a frame."""
        if self._current is not None:
            raise Undecodable(CodingFault.CUT_SHORT)


def decoder_for(coding: str) -> Decoder | None:
    """Return what undoes ``coding``, one name; None when there is nothing to undo.

    Raises:
        Undecodable: the coding is unknown.
    """
    name = coding.strip().lower()
    if name in ("", "identity"):
        return None
    if name not in _KNOWN:
        raise Undecodable(CodingFault.UNKNOWN)
    return Decoder(_KNOWN[name])


def decode_whole(codings: str, body: bytes, limit: int) -> bytes:
    """Return a body that is there whole with all its codings undone, the last one first.

    Args:
        codings: the value of ``content-encoding``.
        body: the body; an empty one is in any coding.
        limit: how many bytes may come out, of every step.

    Raises:
        Undecodable: a coding is unknown, the body is not in it, or too much comes out.
    """
    names = codings.split(",")
    if len(names) > _MAX_CODINGS:
        raise Undecodable(CodingFault.TOO_MANY)
    for name in reversed(names):
        if body and (decoder := decoder_for(name)) is not None:
            body = decoder.feed(body, limit)
            decoder.finish()
    return body


def _decompress(inner: _Decompressor, data: bytes, room: int) -> bytes:
    try:
        return inner.decompress(data, room)
    # Python looks at this only once something was raised, and zstd is not imported before.
    except (zlib.error, _zstd().ZstdError):
        raise Undecodable(CodingFault.MALFORMED) from None


def _zstd() -> Any:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from backports import zstd
    return zstd


def _new_gzip(_: bytes) -> _Decompressor:
    return zlib.decompressobj(_GZIP_OR_ZLIB)


def _new_deflate(head: bytes) -> _Decompressor:
    # "deflate" means zlib (RFC 9110 §8.4.1.2), yet some send it bare; a zlib header is a
    # multiple of 31 with method 8 (RFC 1950 §2.2).
    zlib_header = head[0] & 15 == 8 and (len(head) < 2 or (head[0] << 8 | head[1]) % 31 == 0)
    return zlib.decompressobj(zlib.MAX_WBITS if zlib_header else _RAW_DEFLATE)


def _new_zstd(_: bytes) -> _Decompressor:
    zstd = _zstd()
    limits = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
    decompressor: _Decompressor = zstd.ZstdDecompressor(options=limits)
    return decompressor


_KNOWN: Final[dict[str, Callable[[bytes], _Decompressor]]] = {
    "gzip": _new_gzip,
    "x-gzip": _new_gzip,
    "deflate": _new_deflate,
    "zstd": _new_zstd,
}
