"""What the caller gets back: the upstream's bytes, or an envelope; and which headers."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final

import msgspec

from gateway_core.errors import (
    GatewayError,
    InvalidRequest,
    ProviderError,
    RelayRefused,
)
from gateway_core.relay.call import CallRecord, RelayReply
from gateway_core.relay.request_ids import Pairs, as_bytes, own_ids, request_ids
from gateway_core.relay.status import error_reply, error_type
from gateway_core.relay.targets import Target
from gateway_core.types import DecisionReply, DecisionRequest

JSON: Final = (b"content-type", b"application/json")
_FORWARDED_FAMILY: Final = "x-ratelimit-"
_FORWARDED: Final = ("retry-after", "retry-after-ms", "x-should-retry")
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
    detail: str | None,
) -> RelayReply:
    """Return the envelope of what came of an attempt, and note it; see ``refusal``.

    Args:
        error: what came of it.
        target: who was asked.
        request: what was asked.
        record: what it is noted in.
        detail: what the upstream said, sanitised.
    """
    record.upstream_status = error.status
    headers = _headers(JSON, error.headers, target, request)
    found = refusal(error, record, detail=detail)
    return RelayReply(status=found.status, headers=headers, body=found.body)


def refusal(error: GatewayError, record: CallRecord, *, detail: str | None = None) -> RelayReply:
    """Return the envelope of ``error`` with its status and headers, and note its code.

    Args:
        error: what happened; only its kind, and a refusal's own words, reach the caller.
        record: what the code is noted in.
        detail: what the upstream said, sanitised.
    """
    told = error_reply(error)
    field = error.field if isinstance(error, RelayRefused | InvalidRequest) else None
    message = told.sentence if detail is None else f"{told.sentence}: {detail}"
    content = envelope(told.status, told.code, message, field)
    headers = [JSON, *own_ids(record.request_id)]
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
    headers += [(sent, as_bytes(given[name])) for name, sent in _forwarded(tuple(given))]
    hidden = target.hidden
    if request.api_key is not None:
        hidden = (*hidden, as_bytes(request.api_key.reveal()))
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
