"""What a provider answered, checked: a reply that does not add up is never a decision."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from gateway_core.errors import MalformedResponse
from gateway_core.wire.form import QUESTION_ID, Form
from gateway_core.wire.question import YES_NO
from gateway_core.wire.rounding import summing_to_one

_FLOAT_NOISE: Final = 1e-6
_LONGEST_NAME: Final = 256


@attrs.frozen(kw_only=True)
class Usage:
    """What the provider says it read and wrote, in tokens; None where it does not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None


@attrs.frozen(kw_only=True)
class Answer:
    """One checked answer.

    Attributes:
        decision: the most probable outcome as the provider names it; None if it gave none.
        probabilities: over the question's outcomes, in their order, summing to 1; None when
            the provider reports none or gave no answer.
        provider_confidence: the provider's own number, whose formula is its own.
        model: the model that the provider says answered.
        refused: whether the provider refused to answer.
        abstained: whether the provider itself abstained.
        truncated: whether the provider says that it cut the input.
        usage: tokens.
    """

    decision: str | None = None
    probabilities: Mapping[str, float] | None = None
    provider_confidence: float | None = None
    model: str | None = None
    refused: bool = False
    abstained: bool = False
    truncated: bool = False
    usage: Usage = Usage()


@attrs.frozen(kw_only=True)
class ParsedAnswer:
    """The answer as one format holds it: labels not yet mapped back, numbers not checked."""

    yes: float | None = None
    choice: object = None
    probabilities: Mapping[str, object] | None = None
    confidence: object = None
    refused: bool = False
    abstained: bool = False


def checked_answer(
    parsed: ParsedAnswer, form: Form, envelope: Mapping[str, Any], *, optional: bool
) -> Answer:
    """Check a parsed answer and map it back to the caller's outcomes.

    Args:
        parsed: the answer as its format holds it.
        form: how the question was put.
        envelope: the whole reply, for the model and the usage.
        optional: whether this provider may leave the probabilities out.

    Raises:
        MalformedResponse: it breaks a rule of the decide contract.
    """
    reported = envelope.get("usage")
    usage = reported if isinstance(reported, dict) else {}
    decision, probabilities, confidence = None, None, None
    if not parsed.refused:
        decision, probabilities = _decided(parsed, form, optional=optional)
        if parsed.confidence is not None:
            confidence = probability(parsed.confidence, "confidence")
    return Answer(
        decision=decision,
        probabilities=probabilities,
        provider_confidence=confidence,
        model=_name(envelope.get("model")),
        refused=parsed.refused,
        abstained=parsed.abstained,
        truncated=_truncated(usage),
        usage=Usage(
            input_tokens=_count(usage.get("input_tokens")),
            output_tokens=_count(usage.get("output_tokens")),
        ),
    )


def _decided(
    parsed: ParsedAnswer, form: Form, *, optional: bool
) -> tuple[str, Mapping[str, float] | None]:
    if (form.labels is None) != (parsed.yes is not None):
        raise MalformedResponse("the answer is of another type than the question")
    if form.labels is None or parsed.yes is not None:
        yes = parsed.yes or 0.0
        return YES_NO[yes < 0.5], dict(zip(YES_NO, (yes, _complement(yes)), strict=True))
    if not isinstance(parsed.choice, str) or parsed.choice not in form.labels:
        raise MalformedResponse("the choice is not one of the options")
    chosen = form.labels.index(parsed.choice)
    if parsed.probabilities is None and optional:
        return form.outcomes[chosen], None
    spread = _spread(parsed.probabilities, form.labels)
    if spread[chosen] < max(spread) - _FLOAT_NOISE:
        raise MalformedResponse("the choice is not the most probable option")
    return form.outcomes[chosen], dict(zip(form.outcomes, spread, strict=True))


def _complement(yes: float) -> float:
    # Rounded, because 1 - 0.32 falls short of the 0.68 that a threshold may be set to.
    return round(1 - yes, 12)


def _spread(reported: Mapping[str, object] | None, labels: Sequence[str]) -> list[float]:
    """Return the probabilities in the labels' order, checked and summing to 1."""
    if reported is None:
        raise MalformedResponse("the answer holds no probabilities")
    if reported.keys() != set(labels):
        raise MalformedResponse("the probabilities are not over exactly the options")
    values = [probability(reported[label], "a probability") for label in labels]
    spread = summing_to_one(values)
    if spread is None:
        raise MalformedResponse("the probabilities do not sum to 1")
    return spread


def probability(value: object, name: str) -> float:
    """Return ``value`` as a float if it is a finite number in [0, 1].

    Raises:
        MalformedResponse: it is not; ``name`` says what it should have been.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedResponse(f"{name} is not a number")
    if not 0 <= value <= 1:
        raise MalformedResponse(f"{name} is outside [0, 1]")
    return float(value)


def _name(value: object) -> str | None:
    # The one text of a reply that travels on: what cannot be shown or sent again is no name.
    shown = isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME and value.isprintable()
    return value if isinstance(value, str) and shown else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _truncated(usage: Mapping[str, Any]) -> bool:
    cut = usage.get("truncated_questions")
    return usage.get("truncated") is True or (isinstance(cut, list) and QUESTION_ID in cut)
