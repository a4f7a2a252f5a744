# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""Request bodies as they come in, and freed of their content encoding within a bound."""

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from gateway_core.errors import RelayRefused
from gateway_core.http1 import codings
from gateway_core.http1.codings import CodingFault, Decoder, Undecodable, decoder_for

_SET_BY: Final = "the limit is http.max_body_bytes, at most 32 MiB"


class BodyLimit(NamedTuple):
    """How large a body may be.

    Attributes:
        most: before and after its content encoding is undone, in bytes.
        set_by: what sets it, for a refusal.
    """

    most: int
    set_by: str = _SET_BY


class IncomingBody(Protocol):
    """A body, as far as it has come in."""

    def take(self) -> bytes | None:
        """Return the body if it came whole and in one piece; None for any other."""

    async def more(self) -> Sequence[bytes]:
        """Return the pieces that came since the last call, at the end none."""


def decoded(content: bytes, encoding: str, limit: BodyLimit) -> bytes:
    """Return a whole body without its content encoding.

    Args:
        content: what came in.
        encoding: the content encoding, in lower case.
        limit: how much may come out; no more is ever held.

    Raises:
        RelayRefused: ``request_too_large``, ``unsupported_content_encoding``, or
            ``invalid_request`` for what is not in that encoding.
    """
    decoder = decoder_of(encoding)
    if decoder is None:
        return content
    try:
        found = decoder.feed(content, limit.most)
        decoder.finish()
    except Undecodable as error:
        raise _refusal(error, limit) from None
    return found


def decoder_of(encoding: str) -> Decoder | None:
    """Return what undoes ``encoding``; None where there is nothing to undo.

    Raises:
        RelayRefused: ``unsupported_content_encoding``.
    """
    try:
        return decoder_for(encoding) if encoding else None
    except Undecodable:
        raise RelayRefused(
            "unsupported_content_encoding",
            "the body's content-encoding must be gzip, deflate or zstd, or absent",
            "content-encoding",
            headers={"accept-encoding": codings.ACCEPTED},
        ) from None


def too_large(limit: BodyLimit) -> RelayRefused:
    """Return the refusal of a body that is over ``limit``."""
    return RelayRefused(
        "request_too_large",
        f"the request's body is larger than {limit.most} bytes; {limit.set_by}",
    )


def _refusal(error: Undecodable, limit: BodyLimit) -> RelayRefused:
    if error.fault is CodingFault.TOO_LARGE:
        return too_large(limit)
    return RelayRefused(
        "invalid_request", "the body is not what its content-encoding says", "content-encoding"
    )
