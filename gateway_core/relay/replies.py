"""What the caller gets back: the upstream's bytes, or an envelope; and which headers."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final, NamedTuple

import msgspec

from gateway_core.errors import (
    GatewayError,
    InvalidRequest,
    ProviderError,
    RelayRefused,
)
from gateway_core.relay.call import CallRecord, RelayReply
from gateway_core.relay.request_ids import Pairs, as_bytes, request_ids
from gateway_core.relay.status import error_reply, error_type
from gateway_core.relay.targets import Target
from gateway_core.types import DecisionReply, DecisionRequest

JSON: Final = (b"content-type", b"application/json")
_FORWARDED_FAMILY: Final = "x-ratelimit-"
_FORWARDED: Final = ("retry-after", "retry-after-ms", "x-should-retry")


class Detail(NamedTuple):
    """What an upstream said about a refusal, as far as it may be shown.

    Attributes:
        message: its message, redacted.
        code: its own code, where that is of OpenAI's published set.
        param: the field that it names.
    """

    message: str
    code: str | None = None
    param: str | None = None


_value: Final[Callable[[tuple[bytes, bytes]], bytes]] = itemgetter(1)


def success(reply: DecisionReply, target: Target, request: DecisionRequest) -> RelayReply:
    """Return an upstream's reply as the caller gets it."""
    first = (b"content-type", as_bytes(reply.headers.get("content-type", "application/json")))
    headers = _headers(first, reply.headers, target, request)
    return RelayReply(status=200, headers=headers, body=reply.body)


def failure(
    error: ProviderError,
    target: Target,
    request: DecisionRequest,
    record: CallRecord,
    *,
    detail: Detail | None,
) -> RelayReply:
    """Return the envelope of what came of an attempt, and note it; see ``refusal``.

    Args:
        error: what came of it.
        target: who was asked.
        request: what was asked.
        record: what it is noted in.
        detail: what the upstream said, as far as it may be shown.
    """
    if error.status is not None:
        record.upstream_status = error.status
    record.cause = error.cause
    headers = _headers(JSON, error.headers, target, request)
    found = refusal(error, record, detail=detail)
    return RelayReply(status=found.status, headers=headers, body=found.body)


def refusal(error: GatewayError, record: CallRecord, *, detail: Detail | None = None) -> RelayReply:
    """Return the envelope of ``error`` with its status and headers, and note its code.

    Args:
        error: what happened; only its kind, and a refusal's own words, reach the caller.
        record: what the code is noted in.
        detail: what the upstream said, as far as it may be shown.
    """
    told = error_reply(error)
    field = error.field if isinstance(error, RelayRefused | InvalidRequest) else None
    code, message = told.code, told.sentence
    if detail is not None:
        code, field = detail.code or code, detail.param
        message = f"{message}: {detail.message}"
    content = envelope(told.status, code, message, field)
    headers = [JSON, (b"x-request-id", as_bytes(record.request_id))]
    if isinstance(error, RelayRefused):
        headers += [(as_bytes(name), as_bytes(text)) for name, text in error.headers.items()]
    record.code = told.code
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


def _headers(
    first: tuple[bytes, bytes],
    given: Mapping[str, str],
    target: Target,
    request: DecisionRequest,
) -> Pairs:
    """Return a reply's headers: ``first``, those of the upstream that go on, and the gateway's."""
    headers = [first, *target.labels]
    headers += request_ids(given, target.request_id_header, request.format, request.request_id)
    hidden = target.hidden
    if request.api_key is not None:
        hidden = (*hidden, as_bytes(request.api_key.reveal()))
    if forwarded := _forwarded(tuple(given)):
        # Of those that go on, an upstream may choose a part of the name as well.
        spelt = [secret.lower() for secret in hidden]
        headers += [
            (sent, as_bytes(given[name]))
            for name, sent in forwarded
            if not any(secret in sent for secret in spelt)
        ]
    return _safe(headers, hidden)


@lru_cache(maxsize=64)
def _forwarded(names: tuple[str, ...]) -> tuple[tuple[str, bytes], ...]:
    """Return which headers of an upstream go on, with the bytes of their names."""
    return tuple(
        (name, as_bytes(name))
        for name in names
        if name in _FORWARDED or name.startswith(_FORWARDED_FAMILY)
    )


def _safe(headers: Pairs, hidden: Iterable[bytes]) -> Pairs:
    """Return ``headers`` without those whose value holds a secret."""
    values = b"\n".join(map(_value, headers))
    for secret in hidden:
        if secret in values:
            headers = [pair for pair in headers if secret not in pair[1]]
    return headers
