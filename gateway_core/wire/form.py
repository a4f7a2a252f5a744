"""How one question is put to one provider: the part that both wire formats share."""

import string
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Final

import attrs

from gateway_core.types import Capabilities, EmptyState, LabelRules, YesNo
from gateway_core.wire.question import Question

QUESTION_ID: Final = "decision"
_IN_STATE: Final = 'Answer the question that the state holds under "question".'
_MEANINGS: Final = ("yes, this is true", "no, this is not true")
_NOT_PRINTED: Final = frozenset({"Cc", "Zl", "Zp"})


@attrs.frozen(kw_only=True)
class Form:
    """A question in the shape that a provider takes.

    Attributes:
        instructions: the text that asks.
        state: what is known, a string or a JSON object; never None.
        labels: the labels to choose from, in order; None asks for yes or no natively.
        descriptions: what each label means, where the label does not say it.
        outcomes: the decision that each label stands for.
    """

    instructions: str
    state: str | Mapping[str, Any]
    labels: tuple[str, ...] | None
    descriptions: tuple[str | None, ...]
    outcomes: tuple[str, ...]


def form_of(question: Question, capabilities: Capabilities) -> Form:
    """Return how ``question`` is put to a provider with these ``capabilities``."""
    labels, descriptions = _labels(question, capabilities)
    moved = _moves(question, capabilities)
    return Form(
        instructions=_IN_STATE if moved else question.text,
        state=_long_state(question) if moved else _state(question, capabilities),
        labels=labels,
        descriptions=descriptions,
        outcomes=question.outcomes,
    )


def why_not_askable(question: Question, capabilities: Capabilities) -> str | None:
    """Say why a provider cannot take ``question``, or return None if it can."""
    count = len(question.outcomes)
    if capabilities.max_options is not None and count > capabilities.max_options:
        return f"it takes at most {capabilities.max_options} options and the question has {count}"
    longest = capabilities.max_question_length
    too_long = longest is not None and len(question.text) > longest
    if too_long and not _moves(question, capabilities):
        return f"it takes questions of at most {longest} characters, and this one is longer"
    return None


def _moves(question: Question, capabilities: Capabilities) -> bool:
    longest = capabilities.instructions_length
    return longest is not None and len(question.text) > longest


def _long_state(question: Question) -> Mapping[str, Any]:
    if not question.context:
        return {"question": question.text}
    return {"question": question.text, "context": question.context}


def _state(question: Question, capabilities: Capabilities) -> str | Mapping[str, Any]:
    if question.context:
        return question.context
    return question.text if capabilities.empty_state is EmptyState.QUESTION else ""


def _labels(
    question: Question, capabilities: Capabilities
) -> tuple[tuple[str, ...] | None, tuple[str | None, ...]]:
    outcomes = question.outcomes
    if question.options is None:
        if capabilities.yes_no is not YesNo.CHOICE:
            return None, ()
        return _aliases(2), _MEANINGS
    if _fit_as_labels(outcomes, capabilities.labels):
        return outcomes, (None,) * len(outcomes)
    return _aliases(len(outcomes)), outcomes


def _fit_as_labels(options: Sequence[str], rules: LabelRules) -> bool:
    if rules.max_length is not None and any(len(option) > rules.max_length for option in options):
        return False
    if not rules.control_characters and any(map(_has_control_character, options)):
        return False
    return rules.case_sensitive or len({o.strip().casefold() for o in options}) == len(options)


def _has_control_character(option: str) -> bool:
    if option.isascii() and option.isprintable():
        return False
    return any(unicodedata.category(character) in _NOT_PRINTED for character in option)


def _aliases(count: int) -> tuple[str, ...]:
    """Return A, B, …, Z, AA, AB, …: labels that every provider takes."""
    letters = string.ascii_uppercase
    pairs = ("".join(pair) for pair in product(letters, repeat=2))
    return tuple([*letters, *pairs][:count] if count > len(letters) else letters[:count])
