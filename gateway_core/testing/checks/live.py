"""The checks that ask a configured provider for real."""

from typing import Final

from gateway_core.errors import GatewayError
from gateway_core.provider import Provider
from gateway_core.testing.checks.check import Check, CheckResult, Needs
from gateway_core.types import DecisionRequest
from gateway_core.wire import Question, encode, read, wire_format

_QUESTION: Final = Question(text="Which colour does the text name?", options=("red", "blue"))
_PROBE: Final = Check(
    name="the_probe_succeeds",
    rule="The probe says that the provider is up.",
    why="The gateway reports the provider as down.",
    needs=Needs.ANSWERS,
    run=lambda provider: provider.probe,
)
_DECISION: Final = Check(
    name="a_decision_is_made",
    rule="One small question is decided.",
    why="Nothing else proves the key, the URL, the model and the format at once.",
    needs=Needs.ANSWERS,
    run=lambda provider: provider.ask,
)


async def live_checks(provider: Provider, timeout_s: float = 30.0) -> list[CheckResult]:
    """Probe ``provider`` and put one tiny question, which may cost a fraction of a cent."""
    probed = await provider.probe(timeout_s)
    found = None if probed.ok else probed.detail
    return [
        CheckResult(check=_PROBE, found=found),
        CheckResult(check=_DECISION, found=await _decision_fault(provider, timeout_s)),
    ]


async def _decision_fault(provider: Provider, timeout_s: float) -> str | None:
    capabilities = provider.capabilities
    request = DecisionRequest(
        format=wire_format(capabilities),
        body=encode(_QUESTION, provider.model, capabilities),
        model=provider.model,
    )
    try:
        reply = await provider.ask(request, timeout_s)
        read(reply.body, _QUESTION, capabilities)
    except GatewayError as error:
        return f"{type(error).__name__}: {error}"
    return None
