"""The checks that ask a configured provider for real."""

from typing import Final

from gateway_core.provider import Provider
from gateway_core.testing.checks.check import Check, CheckResult, Needs, perform_here, require
from gateway_core.types import DecisionRequest
from gateway_core.wire import Question, encode, read, wire_format

_QUESTION: Final = Question(text="Which colour does the text name?", options=("red", "blue"))
_PATIENCE_S: Final = 30.0


async def live_checks(provider: Provider) -> list[CheckResult]:
    """Probe ``provider`` and put one tiny question, which may cost a fraction of a cent."""
    return [await perform_here(one, provider) for one in (_PROBE, _DECISION)]


async def _probe(provider: Provider) -> None:
    probed = await provider.probe(_PATIENCE_S)
    require(probed.ok, probed.detail)


async def _decide(provider: Provider) -> None:
    capabilities = provider.capabilities
    request = DecisionRequest(
        format=wire_format(capabilities),
        body=encode(_QUESTION, provider.model, capabilities),
        model=provider.model,
    )
    reply = await provider.ask(request, _PATIENCE_S)
    read(reply.body, _QUESTION, capabilities)


_PROBE: Final = Check(
    name="the_probe_succeeds",
    rule="The probe says that the provider is up.",
    why="The gateway reports the provider as down.",
    needs=Needs.ANSWERS,
    run=_probe,
)
_DECISION: Final = Check(
    name="a_decision_is_made",
    rule="One small question is decided.",
    why="Nothing else proves the key, the URL, the model and the format at once.",
    needs=Needs.ANSWERS,
    run=_decide,
)
