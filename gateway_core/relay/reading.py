"""Request bodies as they come in: bounded, and freed of their content encoding on the way."""

from collections.abc import AsyncIterable
from io import BytesIO

from gateway_core.relay.call import CallRecord, Headers
from gateway_core.relay.encoding import decoder_for, too_large


class BodyReader:
    """Takes a body in chunks and gives it whole, decoded, or refuses it.

    Nothing beyond the limit is ever held: neither of what comes in nor of what comes out.
    """

    def __init__(self, limit: int, encoding: str = "identity") -> None:
        """Prepare for a body of at most ``limit`` bytes in ``encoding``.

        Raises:
            RelayRefused: ``unsupported_content_encoding``.
        """
        self._limit = limit
        self._decode = decoder_for(encoding.strip().lower()) if encoding else None
        self._first = b""
        self._decoded: BytesIO | None = None
        self.received = 0

    def feed(self, chunk: bytes) -> None:
        """Take the next chunk; raise ``RelayRefused`` ``request_too_large`` at the limit."""
        self.received += len(chunk)
        if self.received > self._limit:
            raise too_large()
        if self._decode is not None:
            chunk = self._decode.feed(chunk, self._limit - self._length())
        if self._decoded is not None:
            self._decoded.write(chunk)
        elif self._first:
            self._decoded = BytesIO()
            self._decoded.write(self._first)
            self._decoded.write(chunk)
            self._first = b""
        else:
            self._first = chunk

    def finish(self) -> bytes:
        """Return the whole body, decoded.

        Raises:
            RelayRefused: ``invalid_request`` when the encoded body was cut short.
        """
        if self._decode is not None:
            self._decode.finish()
        # A body that came in one piece is not copied.
        return self._first if self._decoded is None else self._decoded.getvalue()

    def _length(self) -> int:
        return len(self._first) if self._decoded is None else self._decoded.tell()


async def read_whole(
    headers: Headers, chunks: AsyncIterable[bytes], limit: int, record: CallRecord
) -> bytes:
    """Return a request's whole body, decoded, and note in ``record`` how much came in.

    Raises:
        RelayRefused: ``request_too_large``, as soon as that is known,
            ``unsupported_content_encoding``, or ``invalid_request``.
    """
    reader = BodyReader(limit, headers.get(b"content-encoding", b"").decode("latin-1"))
    declared = headers.get(b"content-length")
    if declared is not None and declared.isdigit() and int(declared[-18:]) > limit:
        raise too_large()
    try:
        async for chunk in chunks:
            reader.feed(chunk)
    finally:
        record.bytes_in = reader.received
    return reader.finish()
