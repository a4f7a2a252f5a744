"""What the caller gets back: the upstream's bytes, or an envelope; and which headers."""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

import msgspec

from gateway_core.errors import (
    GatewayError,
    InvalidRequest,
    MalformedResponse,
    ProviderError,
    RelayRefused,
)
from gateway_core.relay.call import CallRecord, RelayReply
from gateway_core.relay.members import is_utf8, without_surrogates
from gateway_core.relay.request_ids import request_ids
from gateway_core.relay.status import error_reply, error_type
from gateway_core.relay.targets import Target
from gateway_core.secret import Secret
from gateway_core.types import DecisionReply, Format

Pairs = list[tuple[bytes, bytes]]
JSON: Final = (b"content-type", b"application/json")
_FORWARDED_FAMILY: Final = "x-ratelimit-"
_FORWARDED: Final = ("retry-after", "retry-after-ms", "x-should-retry", _FORWARDED_FAMILY)
_value: Final[Callable[[tuple[bytes, bytes]], bytes]] = itemgetter(1)


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None


class _Reply(msgspec.Struct):
    usage: msgspec.Raw = msgspec.Raw(b"null")


_reply: Final = msgspec.json.Decoder(_Reply)
_usage: Final = msgspec.json.Decoder(_Usage)


def check_reply(body: bytes, record: CallRecord) -> None:
    """Make sure that ``body`` is one JSON object, and note the usage that it tells of.

    Raises:
        MalformedResponse: it is something else.
    """
    if not is_utf8(body):
        raise MalformedResponse("the reply is not UTF-8")
    try:
        usage = _decoded(body).usage
    except (msgspec.DecodeError, RecursionError):
        raise MalformedResponse("the reply is not a JSON object") from None
    try:
        found = _usage.decode(usage)
    except msgspec.DecodeError:
        # Whatever else a vendor counts, the reply is the caller's all the same.
        return
    record.input_tokens, record.output_tokens = found.input_tokens, found.output_tokens


def success(
    reply: DecisionReply,
    target: Target,
    wire: Format,
    secrets: Sequence[Secret],
    record: CallRecord,
) -> RelayReply:
    """Return an upstream's reply as the caller gets it, and note its size."""
    content_type = reply.headers.get("content-type")
    headers = [JSON if content_type is None else (b"content-type", _bytes(content_type))]
    headers += _forwarded(reply.headers)
    headers += target.labels
    headers += _ids(reply.headers, target, wire, record.request_id)
    record.status, record.bytes_out = 200, len(reply.body)
    return RelayReply(status=200, headers=_safe(headers, secrets), body=reply.body)


def failure(
    error: ProviderError,
    target: Target,
    wire: Format,
    secrets: Sequence[Secret],
    record: CallRecord,
    *,
    detail: str | None,
) -> RelayReply:
    """Return the envelope of what came of an attempt, and note it; see ``refusal``.

    Args:
        error: what came of it.
        target: who was asked.
        wire: the format that was asked in.
        secrets: what no header may hold.
        record: what it is noted in.
        detail: what the upstream said, sanitised.
    """
    record.upstream_status = error.status
    headers = [JSON, *target.labels, *_ids(error.headers, target, wire, record.request_id)]
    headers += _forwarded(error.headers)
    found = refusal(error, record, detail=detail)
    return RelayReply(status=found.status, headers=_safe(headers, secrets), body=found.body)


def refusal(error: GatewayError, record: CallRecord, *, detail: str | None = None) -> RelayReply:
    """Return the envelope of ``error`` with its status and headers, and note them.

    Args:
        error: what happened; only its kind, and a refusal's own words, reach the caller.
        record: what the refusal is noted in.
        detail: what the upstream said, sanitised.
    """
    told = error_reply(error)
    field = error.field if isinstance(error, RelayRefused | InvalidRequest) else None
    message = told.sentence if detail is None else f"{told.sentence}: {detail}"
    content = envelope(told.status, told.code, message, field)
    headers = [JSON, (b"x-request-id", _bytes(record.request_id))]
    if isinstance(error, RelayRefused):
        headers += [(_bytes(name), _bytes(text)) for name, text in error.headers.items()]
    record.status, record.code, record.bytes_out = told.status, told.code, len(content)
    return RelayReply(status=told.status, headers=headers, body=content)


def envelope(status: int, code: str, message: str, param: str | None = None) -> bytes:
    """Return the JSON envelope that every error has."""
    error: dict[str, Any] = {
        "message": message,
        "type": error_type(status),
        "param": param,
        "code": code,
    }
    return msgspec.json.encode({"error": error})


def _decoded(body: bytes) -> _Reply:
    try:
        return _reply.decode(body)
    except msgspec.DecodeError:
        return _reply.decode(without_surrogates(body))


def _forwarded(headers: Mapping[str, str]) -> Pairs:
    return [
        (_bytes(name), _bytes(text))
        for name, text in headers.items()
        if name.startswith(_FORWARDED)
        and (name.startswith(_FORWARDED_FAMILY) or name in _FORWARDED)
    ]


def _ids(headers: Mapping[str, str], target: Target, wire: Format, own: str) -> Pairs:
    name = target.provider.capabilities.request_id_header
    return [(_bytes(key), _bytes(text)) for key, text in request_ids(headers, name, wire, own)]


def _safe(headers: Pairs, secrets: Sequence[Secret]) -> Pairs:
    """Return ``headers`` without those whose value holds a secret."""
    values = b"\n".join(map(_value, headers))
    for secret in secrets:
        text = _bytes(secret.reveal())
        if text in values:
            headers = [pair for pair in headers if text not in pair[1]]
    return headers


def _bytes(text: str) -> bytes:
    return text.encode("latin-1", "replace")
