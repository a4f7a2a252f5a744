"""What a reply tells of itself: that it is one JSON object, and what it used."""

from typing import Final

import msgspec

from gateway_core.causes import Cause
from gateway_core.door.access import AccessEntry
from gateway_core.errors import MalformedResponse
from gateway_core.relay.members import is_utf8, without_surrogates


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None


class _Reply(msgspec.Struct):
    usage: _Usage | None = None


class _OddReply(msgspec.Struct):
    usage: msgspec.Raw = msgspec.Raw(b"null")


_reply: Final = msgspec.json.Decoder(_Reply)
_odd_reply: Final = msgspec.json.Decoder(_OddReply)
_anything: Final = msgspec.json.Decoder(msgspec.Raw)
_usage: Final = msgspec.json.Decoder(_Usage)


def check_reply(body: bytes, access: AccessEntry) -> None:
    """Make sure that ``body`` is one JSON object, and note the usage that it tells of.

    Raises:
        MalformedResponse: it is something else.
    """
    if not (body.isascii() or is_utf8(body)):
        raise MalformedResponse("the reply is not UTF-8", cause=Cause.NOT_UTF8)
    try:
        usage = _reply.decode(body).usage
    except (msgspec.DecodeError, RecursionError):
        usage = _odd_usage(body)
    if usage is not None:
        access.input_tokens, access.output_tokens = usage.input_tokens, usage.output_tokens


def _odd_usage(body: bytes) -> _Usage | None:
    """Return the usage of a reply that has lone surrogates, or that counts something else."""
    try:
        usage = _odd_reply.decode(without_surrogates(body)).usage
    except (msgspec.DecodeError, RecursionError):
        raise MalformedResponse("the reply is not a JSON object", cause=_cause(body)) from None
    try:
        return _usage.decode(usage)
    except msgspec.DecodeError:
        # Whatever else a vendor counts, the reply is the caller's all the same.
        return None


def _cause(body: bytes) -> Cause:
    """Say whether ``body`` is another kind of JSON than an object, or none."""
    try:
        _anything.decode(without_surrogates(body))
    except (msgspec.DecodeError, RecursionError):
        return Cause.NOT_JSON
    return Cause.NOT_AN_OBJECT
