"""The one attempt: no retry, no fallback, whatever comes of it."""

from time import perf_counter
from typing import Final

from gateway_core.errors import ProviderError, UpstreamRejected
from gateway_core.outbound import sanitize_message
from gateway_core.relay.body import DecisionBody, read_body
from gateway_core.relay.call import CallRecord, Headers, RelayReply
from gateway_core.relay.replies import check_reply, failure, success
from gateway_core.relay.targets import Target
from gateway_core.secret import Secret
from gateway_core.types import DecisionRequest

_JSON: Final = "application/json"
_LONGEST_SHOWN: Final = 200


async def attempt(
    target: Target, request: DecisionRequest, *, timeout_s: float, record: CallRecord
) -> RelayReply:
    """Send ``request`` to ``target`` and return what the caller gets.

    Args:
        target: the provider that is asked.
        request: what it is asked.
        timeout_s: the time it may take, in seconds, unless its provider has a limit of its own.
        record: what is noted of it.
    """
    provider, key = target.provider, request.api_key
    record.provider, record.dialect = target.id, provider.dialect
    record.sent_model = shown(request.model)
    secrets = target.secrets if key is None else (*target.secrets, key)
    started = perf_counter()
    try:
        reply = await provider.ask(request, provider.endpoint.timeout_s or timeout_s)
        record.upstream_status = reply.status
        check_reply(reply.body, record)
    except ProviderError as error:
        detail = _detail(error, request, secrets)
        return failure(error, target, request.format, secrets, record, detail=detail)
    finally:
        record.upstream_ms = 1000 * (perf_counter() - started)
    return success(reply, target, request.format, secrets, record)


def upstream_request(
    target: Target, body: DecisionBody, key: Secret | None, headers: Headers, request_id: str
) -> DecisionRequest:
    """Return what goes upstream: the body with its model replaced, and the headers that may.

    Args:
        target: the provider, and the model that goes in place of what the body names.
        body: what the caller sent.
        key: the customer's key, when the call brought it.
        headers: the caller's.
        request_id: the call's.
    """
    sent = {"x-request-id": request_id}
    for name, known in target.features:
        if name in headers:
            sent[known] = headers[name].decode("latin-1")
    return DecisionRequest(
        format=body.format,
        body=body.naming(target.model),
        model=target.model,
        content_type=headers[b"content-type"].decode("latin-1") if body.multipart else _JSON,
        headers=sent,
        api_key=key,
        request_id=request_id,
    )


def shown(model: str) -> str:
    """Return a model's name as it may be logged: bounded, and without lone surrogates."""
    return model[:_LONGEST_SHOWN].encode("utf-8", "replace").decode("utf-8")


def _detail(
    error: ProviderError, request: DecisionRequest, secrets: tuple[Secret, ...]
) -> str | None:
    """Return what the upstream found at fault in the request, if it may be shown."""
    if not isinstance(error, UpstreamRejected):
        return None
    sent = read_body(request.body, request.content_type).json
    return sanitize_message(error.upstream_message, secrets=secrets, body=sent)
