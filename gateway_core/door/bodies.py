# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""Request bodies as they come in: bounded, and freed of their content encoding on the way."""

from collections.abc import Sequence
from typing import Final, Protocol

from gateway_core.door.access import AccessEntry
from gateway_core.errors import RelayRefused
from gateway_core.http1 import codings
from gateway_core.http1.codings import CodingFault, Decoder, Undecodable, decoder_for
from gateway_core.http1.messages import Headers

SET_BY: Final = "the limit is http.max_body_bytes, at most 32 MiB"
_LARGE: Final = 16 * 1024


class Incoming(Protocol):
    """A body, as far as it has come in."""

    def take(self) -> bytes | None:
        """Return the body if it came whole and in one piece; None for any other."""

    async def more(self) -> Sequence[bytes]:
        """Return the pieces that came since the last call, at the end none."""


class BodyReader:
    """Takes a body in pieces and gives it whole, decoded, or refuses it.

    Nothing beyond the limit is ever held: neither of what comes in nor of what comes out.
    """

    def __init__(self, limit: int, encoding: str = "identity", *, way_out: str = SET_BY) -> None:
        """Prepare for a body of at most ``limit`` bytes in ``encoding``.

        Args:
            limit: before and after decoding, in bytes.
            encoding: of the body.
            way_out: what the limit is set by, for a refusal.

        Raises:
            RelayRefused: ``unsupported_content_encoding``.
        """
        self._limit = limit
        self._way_out = way_out
        self._decode = _decoder(encoding) if encoding else None
        self._pieces: list[bytes] = []
        self._small = bytearray()
        self._decoded = 0
        self.received = 0

    def feed(self, piece: bytes) -> None:
        """Take the next piece; raise ``RelayRefused`` ``request_too_large`` at the limit."""
        self.received += len(piece)
        if self.received > self._limit:
            raise too_large(self._limit, self._way_out)
        if self._decode is not None:
            piece = self._decoded_piece(self._decode, piece)
            self._decoded += len(piece)
        self._keep(piece)

    def _decoded_piece(self, decoder: Decoder, piece: bytes) -> bytes:
        try:
            return decoder.feed(piece, self._limit - self._decoded)
        except Undecodable as error:
            if error.fault is CodingFault.TOO_LARGE:
                raise too_large(self._limit, self._way_out) from None
            raise _refusal(error) from None

    def _keep(self, piece: bytes) -> None:
        if not self._pieces:
            self._pieces.append(piece)
            return
        # Many small pieces would take several times the memory of what is in them.
        if len(piece) < _LARGE and len(self._small) < _LARGE:
            self._small += piece
            return
        self._pieces += (bytes(self._small), piece)
        self._small.clear()

    def finish(self) -> bytes:
        """Return the whole body, decoded.

        Raises:
            RelayRefused: ``invalid_request`` when the encoded body was cut short.
        """
        if self._decode is not None:
            _finish(self._decode)
        # A buffer that grew with the body would be copied several times on the way.
        pieces, self._pieces = self._pieces, []
        if len(pieces) == 1 and not self._small:
            return pieces[0]
        return b"".join((*pieces, self._small))


async def read_whole(
    headers: Headers, body: Incoming, limit: int, access: AccessEntry, way_out: str = SET_BY
) -> bytes:
    """Return a request's whole body, decoded, and note in ``access`` how much came in.

    Args:
        headers: the request's.
        body: as far as it has come in.
        limit: how many bytes it may have, before and after decoding.
        access: what is noted of the request.
        way_out: what the limit is set by, for a refusal.

    Raises:
        RelayRefused: ``request_too_large``, as soon as that is known,
            ``unsupported_content_encoding``, or ``invalid_request``.
    """
    content = None if b"content-encoding" in headers else body.take()
    if content is None:
        return await _read_on(headers, body, limit, access, way_out)
    access.bytes_in = len(content)
    if len(content) > limit:
        raise too_large(limit, way_out)
    return content


async def _read_on(
    headers: Headers, body: Incoming, limit: int, access: AccessEntry, way_out: str
) -> bytes:
    encoding = headers.get(b"content-encoding", b"").decode("latin-1")
    reader = BodyReader(limit, encoding, way_out=way_out)
    declared = headers.get(b"content-length")
    if declared is not None and declared.isdigit() and int(declared[-18:]) > limit:
        raise too_large(limit, way_out)
    try:
        while pieces := await body.more():
            for piece in pieces:
                reader.feed(piece)
    finally:
        access.bytes_in = reader.received
    return reader.finish()


def _decoder(encoding: str) -> Decoder | None:
    try:
        return decoder_for(encoding)
    except Undecodable as error:
        raise _refusal(error) from None


def _finish(decoder: Decoder) -> None:
    try:
        decoder.finish()
    except Undecodable as error:
        raise _refusal(error) from None


def _refusal(error: Undecodable) -> RelayRefused:
    """Return what a request gets whose body cannot be decoded."""
    if error.fault is CodingFault.UNKNOWN:
        return RelayRefused(
            "unsupported_content_encoding",
            "the body's content-encoding must be gzip, deflate or zstd, or absent",
            "content-encoding",
            headers={"accept-encoding": codings.ACCEPTED},
        )
    return RelayRefused(
        "invalid_request", "the body is not what its content-encoding says", "content-encoding"
    )


def too_large(limit: int, way_out: str = SET_BY) -> RelayRefused:
    """Return the refusal of a body that is over the limit.

    Args:
        limit: how many bytes it may have, before and after decompression.
        way_out: what the limit is set by.
    """
    return RelayRefused(
        "request_too_large", f"the request's body is larger than {limit} bytes; {way_out}"
    )
