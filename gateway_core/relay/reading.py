"""Request bodies as they come in, and freed of their content encoding within a bound."""

from collections.abc import Sequence
from typing import Protocol

from gateway_core.relay.encoding import decoder_for


class Incoming(Protocol):
    """A body, as far as it has come in."""

    def take(self) -> bytes | None:
        """Return the body if it came whole and in one piece; None for any other."""

    async def more(self) -> Sequence[bytes]:
        """Return the pieces that came since the last call, at the end none."""


def decoded(content: bytes, encoding: str, limit: int) -> bytes:
    """Return a whole body without its content encoding.

    Args:
        content: what came in.
        encoding: the content encoding, in lower case.
        limit: the most bytes that may come out; no more are ever held.

    Raises:
        RelayRefused: ``request_too_large``, ``unsupported_content_encoding``, or
            ``invalid_request`` for what is not in that encoding.
    """
    decoder = decoder_for(encoding)
    if decoder is None:
        return content
    found = decoder.feed(content, limit)
    decoder.finish()
    return found
