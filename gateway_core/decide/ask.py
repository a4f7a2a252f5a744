"""One question to one provider: encode, send, read."""

from gateway_core.errors import ConfigError
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
        request_id: the id under which the call is logged.
        model: the model to ask; the provider's first one when absent.

    Raises:
        ConfigError: the provider has no credential and needs one.
        ProviderError: it failed, or its answer does not add up.
    """
    if not provider.usable:
        raise ConfigError(f"provider {provider.name!r} has no API key; configure its api_key")
    model = model or provider.model
    request = DecisionRequest(
        format=wire_format(provider.capabilities),
        body=encode(question, model, provider.capabilities),
        model=model,
        request_id=request_id,
    )
    reply = await provider.ask(request, timeout_s)
    return read(reply.body, question, provider.capabilities)
