# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""What the caller gets back: the upstream's bytes, or an envelope; and which headers."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Final

from gateway_core.door.access import AccessEntry
from gateway_core.door.refusals import JSON, Detail, refusal
from gateway_core.door.request_ids import Pairs
from gateway_core.errors import ProviderError
from gateway_core.http1.messages import HttpReply, header_bytes
from gateway_core.relay.request_ids import request_ids
from gateway_core.relay.targets import RelayTarget
from gateway_core.types import DecisionReply, DecisionRequest

_FORWARDED_FAMILY: Final = "x-ratelimit-"
_FORWARDED: Final = ("retry-after", "retry-after-ms", "x-should-retry")
_value: Final[Callable[[tuple[bytes, bytes]], bytes]] = itemgetter(1)


def success(reply: DecisionReply, target: RelayTarget, request: DecisionRequest) -> HttpReply:
    """Return an upstream's reply as the caller gets it."""
    first = (b"content-type", header_bytes(reply.headers.get("content-type", "application/json")))
    headers = _headers(first, reply.headers, target, request)
    return HttpReply(status=200, headers=headers, body=reply.body)


def failure(
    error: ProviderError,
    target: RelayTarget,
    request: DecisionRequest,
    access: AccessEntry,
    *,
    detail: Detail | None,
) -> HttpReply:
    """Return the envelope of what came of an attempt, and note it; see ``refusal``.

    Args:
        error: what came of it.
        target: who was asked.
        request: what was asked.
        access: what it is noted in.
        detail: what the upstream said, as far as it may be shown.
    """
    if error.status is not None:
        access.upstream_status = error.status
    access.cause = error.cause
    headers = _headers(JSON, error.headers, target, request)
    refused = refusal(error, access, detail=detail)
    return HttpReply(status=refused.status, headers=headers, body=refused.body)


def _headers(
    first: tuple[bytes, bytes],
    upstream_headers: Mapping[str, str],
    target: RelayTarget,
    request: DecisionRequest,
) -> Pairs:
    """Return a reply's headers: ``first``, those of the upstream that go on, and the gateway's."""
    headers = [first, *target.labels]
    headers += request_ids(
        upstream_headers, target.request_id_header, request.format, request.request_id
    )
    hidden = target.hidden
    if request.api_key is not None:
        hidden = (*hidden, header_bytes(request.api_key.reveal()))
    if forwarded := _forwarded(tuple(upstream_headers)):
        # Of those that go on, an upstream may choose a part of the name as well.
        spelt = [secret.lower() for secret in hidden]
        headers += [
            (field, header_bytes(upstream_headers[name]))
            for name, field in forwarded
            if not any(secret in field for secret in spelt)
        ]
    return _safe(headers, hidden)


@lru_cache(maxsize=64)
def _forwarded(names: tuple[str, ...]) -> tuple[tuple[str, bytes], ...]:
    """Return which headers of an upstream go on, with the bytes of their names."""
    return tuple(
        (name, header_bytes(name))
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
