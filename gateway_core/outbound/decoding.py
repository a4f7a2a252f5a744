"""A reply with its content encodings undone, and the errors that this may come to."""

from typing import Final

from gateway_core.causes import Cause
from gateway_core.errors import MalformedResponse
from gateway_core.http1.bounds import MAX_REPLY_BYTES
from gateway_core.http1.codings import CodingFault, Undecodable, decode_whole
from gateway_core.types import DecisionReply

_OF_THE_CODING: Final = ("content-encoding", "content-length")
_SENTENCES: Final = {
    CodingFault.UNKNOWN: (
        "the reply has an unknown content encoding",
        Cause.UNKNOWN_ENCODING,
    ),
    CodingFault.TOO_MANY: ("the reply is encoded too many times", Cause.UNDECODABLE),
    CodingFault.MALFORMED: ("the reply is not in its content encoding", Cause.UNDECODABLE),
    CodingFault.CUT_SHORT: ("the reply ended early", Cause.CUT_SHORT),
    CodingFault.TOO_LARGE: ("the reply is larger than 10 MiB", Cause.TOO_LARGE),
}


def decoded_reply(reply: DecisionReply) -> DecisionReply:
    """Return ``reply`` with its content encodings undone, the last one first.

    Raises:
        MalformedResponse: an encoding is unknown, the body is not in it, or what comes out is
            larger than 10 MiB.
    """
    try:
        body = decode_whole(reply.headers["content-encoding"], reply.body, MAX_REPLY_BYTES)
    except Undecodable as error:
        # A refusal is known by its status, however badly its text came over.
        if 200 <= reply.status < 300:
            sentence, cause = _SENTENCES[error.fault]
            raise MalformedResponse(sentence, status=reply.status, cause=cause) from None
        body = b""
    kept = {name: text for name, text in reply.headers.items() if name not in _OF_THE_CODING}
    return DecisionReply(body=body, status=reply.status, headers=kept)
