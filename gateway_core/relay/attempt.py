"""The one attempt: no retry, no fallback, whatever comes of it."""

from time import perf_counter
from typing import Final

from gateway_core.errors import ProviderError, UpstreamRejected
from gateway_core.outbound import sanitize_message
from gateway_core.relay.body import DecisionBody, json_of
from gateway_core.relay.call import CallRecord, Headers, RelayReply, elapsed_ms
from gateway_core.relay.replies import failure, success
from gateway_core.relay.targets import Target
from gateway_core.relay.usage import check_reply
from gateway_core.secret import Secret
from gateway_core.types import DecisionRequest

_JSON: Final = "application/json"


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
    provider = target.provider
    record.provider, record.dialect, record.sent_model = target.id, provider.dialect, target.shown
    started = perf_counter()
    try:
        reply = await provider.ask(request, provider.endpoint.timeout_s or timeout_s)
        record.upstream_status = reply.status
        check_reply(reply.body, record)
    except ProviderError as error:
        return failure(error, target, request, record, detail=_detail(error, target, request))
    finally:
        record.upstream_ms = elapsed_ms(started)
    return success(reply, target, request)


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
    if not headers.keys().isdisjoint(target.features):
        features = target.features.items()
        sent |= {
            sent_as: headers[name].decode("latin-1")
            for name, sent_as in features
            if name in headers
        }
    return DecisionRequest(
        format=body.format,
        body=body.naming(target.model),
        model=target.model,
        content_type=headers[b"content-type"].decode("latin-1") if body.multipart else _JSON,
        headers=sent,
        api_key=key,
        request_id=request_id,
    )


def _detail(error: ProviderError, target: Target, request: DecisionRequest) -> str | None:
    """Return what the upstream found at fault in the request, if it may be shown."""
    if not isinstance(error, UpstreamRejected):
        return None
    sent = json_of(request.body, request.content_type)
    key = request.api_key
    secrets = target.secrets if key is None else (*target.secrets, key)
    return sanitize_message(error.upstream_message, secrets=secrets, body=sent)
