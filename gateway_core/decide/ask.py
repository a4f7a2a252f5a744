"""One question to one provider: encode, send, read."""

from gateway_core.errors import MalformedResponse, UpstreamRejected
from gateway_core.http1.messages import header_id
from gateway_core.outbound.held import held_secrets, own_hosts
from gateway_core.provider import Provider
from gateway_core.types import DecisionRequest
from gateway_core.wire import Answer, Question, encode, read, wire_format


async def ask(
    provider: Provider,
    question: Question,
    *,
    timeout_s: float,
    request_id: str,
    model: str | None = None,
) -> Answer:
    """Put ``question`` to ``provider``, once.

    Args:
        provider: who is asked; it must be able to take the question.
        question: what is asked.
        timeout_s: the time it may take, in seconds.
        request_id: the id under which the call is logged, here and at the upstream.
        model: the model to ask; the provider's first one when absent.

    Raises:
        ConfigError: the provider cannot be asked as it is configured; it was not.
        ProviderError: it failed, or its answer does not add up.
    """
    if obstacle := provider.obstacle:
        raise obstacle
    model = model or provider.model
    request = DecisionRequest(
        format=wire_format(provider.capabilities),
        body=encode(question, model, provider.capabilities),
        model=model,
        headers={"x-request-id": header_id(request_id)},
        request_id=request_id,
    )
    try:
        reply = await provider.ask(request, timeout_s)
    except UpstreamRejected as error:
        error.shown_message = await _shown(error, provider, request)
        raise
    try:
        return read(reply.body, question, provider.capabilities)
    except MalformedResponse as error:
        error.status = reply.status
        raise


async def _shown(error: UpstreamRejected, provider: Provider, request: DecisionRequest) -> str:
    """Return what the caller may see of what the upstream said."""
    # Most processes never need it.
    from gateway_core.outbound.redaction import Sent, redact

    endpoint = provider.endpoint
    sent = Sent(
        body=request.body,
        model=request.model,
        secrets=held_secrets(endpoint),
        hosts=own_hosts(endpoint),
    )
    return await redact(error.upstream_message, sent)
