# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""The one attempt: no retry, no fallback, whatever comes of it."""

from time import perf_counter
from typing import Final

from gateway_core.door.access import AccessEntry, elapsed_ms
from gateway_core.door.refusals import Detail
from gateway_core.errors import ProviderError, UpstreamRejected
from gateway_core.http1.messages import Headers, HttpReply
from gateway_core.outbound.held import own_hosts
from gateway_core.relay.body import DecisionBody, json_of
from gateway_core.relay.replies import failure, success
from gateway_core.relay.targets import RelayTarget
from gateway_core.relay.usage import check_reply
from gateway_core.secret import Secret
from gateway_core.types import DecisionRequest, Format

_JSON: Final = "application/json"


async def make_attempt(
    target: RelayTarget, request: DecisionRequest, *, timeout_s: float, access: AccessEntry
) -> HttpReply:
    """Send ``request`` to ``target`` and return what the caller gets.

    Args:
        target: the provider that is asked.
        request: what it is asked.
        timeout_s: the time it may take, in seconds, unless its provider has a limit of its own.
        access: what is noted of it.
    """
    provider = target.provider
    access.provider, access.dialect, access.sent_model = (
        target.id,
        provider.dialect,
        target.loggable,
    )
    started = perf_counter()
    try:
        reply = await provider.ask(request, provider.endpoint.timeout_s or timeout_s)
        access.upstream_status = reply.status
        check_reply(reply.body, access)
    except ProviderError as error:
        detail = await _detail(error, target, request)
        return failure(error, target, request, access, detail=detail)
    finally:
        access.upstream_ms = elapsed_ms(started)
    return success(reply, target, request)


def upstream_request(
    target: RelayTarget, body: DecisionBody, key: Secret | None, headers: Headers, request_id: str
) -> DecisionRequest:
    """Return what goes upstream: the body with its model replaced, and the headers that may.

    Args:
        target: the provider, and the model that goes in place of what the body names.
        body: what the caller sent.
        key: the customer's key, when the call brought it.
        headers: the caller's.
        request_id: the call's.
    """
    request_headers = {"x-request-id": request_id}
    if not headers.keys().isdisjoint(target.features):
        features = target.features.items()
        request_headers |= {
            upstream_name: headers[name].decode("latin-1")
            for name, upstream_name in features
            if name in headers
        }
    return DecisionRequest(
        format=body.format,
        body=body.naming(target.model),
        model=target.model,
        content_type=headers[b"content-type"].decode("latin-1") if body.multipart else _JSON,
        headers=request_headers,
        api_key=key,
        request_id=request_id,
    )


async def _detail(
    error: ProviderError, target: RelayTarget, request: DecisionRequest
) -> Detail | None:
    """Return what the upstream found at fault in the request, as far as it may be shown."""
    if not isinstance(error, UpstreamRejected):
        return None
    # Most processes never need it.
    from gateway_core.outbound.redaction import Sent, published_code, redact, shown_param

    key = request.api_key
    request_parts = Sent(
        body=json_of(request.body, request.content_type),
        model=request.model,
        secrets=target.secrets if key is None else (*target.secrets, key),
        hosts=own_hosts(target.provider.endpoint),
    )
    openai = request.format is Format.OPENAI
    return Detail(
        message=await redact(error.upstream_message, request_parts),
        code=published_code(error.upstream_code) if openai else None,
        param=shown_param(error.upstream_param, request_parts),
    )
