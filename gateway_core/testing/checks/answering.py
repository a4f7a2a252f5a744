"""Checks of the questions that a provider takes and the answers that come back."""

from collections.abc import Mapping
from typing import Any, Final

from gateway_core.testing.checks.check import Needs, check, require
from gateway_core.testing.checks.subject import Subject, bench
from gateway_core.testing.checks.tour import first_question
from gateway_core.testing.messages import Received, Reply
from gateway_core.types import Format, YesNo
from gateway_core.wire import Answer, Question, why_not_askable, wire_format

_TEAMS: Final = ("technical support", "Billing", "accounts", "zoo")
_UNICODE: Final = ("Rückfrage", "質問", "🎯 Ziel", "e\u0301te\u0301", "שאלה")
_LONGEST: Final = 8000
_MOST: Final = 255


async def _ask(subject: Subject, question: Question) -> Answer | None:
    """Put ``question`` if the capabilities say that it fits; None when they say it does not."""
    async with bench(subject) as on:
        if why_not_askable(question, on.provider.capabilities):
            return None
        return await on.answer(question)


def _is_over(answer: Answer | None, question: Question) -> None:
    if answer is not None:
        require(answer.decision in question.outcomes, f"the decision is {answer.decision!r}")


@check(
    "A plain question is answered.",
    why="Nothing else can be tried of a provider that does not answer.",
    needs=Needs.ANSWERS,
    is_base=True,
)
def a_question_is_answered(subject: Subject) -> None:
    """Of two options, and with a context."""
    failure = first_question(subject).failure
    if failure is not None:
        raise failure


@check(
    "Options keep their order on the wire.",
    why="Models are not indifferent to order, so that it belongs to what was asked.",
    needs=Needs.RELAYING,
)
async def options_keep_their_order(subject: Subject) -> None:
    """Neither sorted nor deduplicated."""
    question = Question(text="Which team?", options=_TEAMS)
    async with bench(subject) as on:
        answer = await on.answer(question)
        received = on.upstream.requests[-1]
        sent = _options(received.json(), wire_format(on.provider.capabilities))
        require(sent == list(_TEAMS), f"they were sent as {sent}")
        require(answer.decision == _TEAMS[-1], "the answer is another than the upstream's")


def _options(body: Mapping[str, Any], wire: Format) -> list[str]:
    if wire is Format.OPENAI:
        return [choice["value"] for choice in body["questions"][0]["choices"]]
    return list(body["questions"]["decision"]["criteria"])


@check(
    "255 options are decided, or the capabilities say that they are too many.",
    why="A list that is cut in silence hides the right answer.",
    needs=Needs.ANSWERS,
)
async def many_options_are_taken_or_declared(subject: Subject) -> None:
    """The most that any provider takes."""
    question = Question(text="Which?", options=tuple(f"option {n}" for n in range(_MOST)))
    _is_over(await _ask(subject, question), question)


@check(
    "A question of 8,000 characters is decided, or the capabilities say that it is too long.",
    why="It is what the decide contract allows; a question cut in silence is another question.",
    needs=Needs.ANSWERS,
)
async def long_questions_are_taken_or_declared(subject: Subject) -> None:
    """The longest that the decide contract allows."""
    text = ("Which team should answer this? " * 300)[:_LONGEST]
    question = Question(text=text, options=("sales", "billing"))
    _is_over(await _ask(subject, question), question)


@check(
    "Labels of any script come back as they went.",
    why="Options are people's words; a normalised or escaped one matches nothing.",
    needs=Needs.ANSWERS,
)
async def unicode_labels_survive(subject: Subject) -> None:
    """Composed and decomposed accents, right-to-left text and characters beyond the BMP."""
    question = Question(text="Welche?", options=_UNICODE)
    _is_over(await _ask(subject, question), question)


@check(
    "Yes/no questions are answered, or declared as unsupported.",
    why="The host puts them by the capabilities: natively, as a choice, or not at all.",
    needs=Needs.ANSWERS,
)
async def yes_no_questions_are_answered(subject: Subject) -> None:
    """In the form that ``capabilities.yes_no`` names."""
    if subject.build().capabilities.yes_no is YesNo.UNSUPPORTED:
        return
    question = Question(text="Is it urgent?")
    _is_over(await _ask(subject, question), question)


async def _read(subject: Subject, question: Question, change: Mapping[str, Any] | str) -> Answer:
    """Ask, with the answer in the standard reply changed; a text replaces its type alone."""

    def changed(received: Received) -> Reply:
        reply = subject.answer(received).body
        answers = reply["answers"]
        key = "decision" if isinstance(answers, dict) else 0
        if isinstance(change, str):
            answers[key] = {"type": change}
        else:
            answers[key] |= change.get("answer", {})
            reply |= change.get("reply", {})
        return Reply(body=_without_none(reply))

    async with bench(subject) as on:
        on.upstream.answer(lambda received: on.wrapped(changed(received)))
        return await on.answer(question)


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list) else value


def _spread(subject: Subject, values: Mapping[str, float]) -> Any:
    if wire_format(subject.build().capabilities) is Format.OPENAI:
        return [{"value": value, "probability": p} for value, p in values.items()]
    return dict(values)


def _labelled(subject: Subject, *values: float) -> Any:
    return _spread(subject, dict(zip(("sales", "billing", "support"), values, strict=True)))


_QUESTION: Final = Question(text="Which team?", options=("sales", "billing", "support"))


@check(
    "A refusal comes through as a refusal.",
    why="It is a final answer: reported, and neither retried nor asked of another provider.",
    needs=Needs.RELAYING,
)
async def refusals_come_through(subject: Subject) -> None:
    """A refusal is an answer inside a 200."""
    answer = await _read(subject, _QUESTION, "refusal")
    require(answer.refused, "it was read as something else")


@check(
    "Probabilities that are rounded, and so do not sum to 1, are accepted.",
    why="Vendors round to two decimals: 0.99 and 1.01 are sums of good answers.",
    needs=Needs.RELAYING,
)
async def rounded_probabilities_are_accepted(subject: Subject) -> None:
    """A sum of 0.99."""
    change = {"choice": "support", "probabilities": _labelled(subject, 0.33, 0.26, 0.4)}
    answer = await _read(subject, _QUESTION, {"answer": change})
    require(answer.decision == "support", f"the decision is {answer.decision!r}")


@check(
    "Probabilities written as integers are accepted.",
    why="JSON has one kind of number, and certain answers arrive as 0 and 1.",
    needs=Needs.RELAYING,
)
async def integers_are_probabilities(subject: Subject) -> None:
    """As a live recording of a vendor has them."""
    change = {"choice": "sales", "probabilities": _labelled(subject, 1, 0, 0), "confidence": 1}
    answer = await _read(subject, _QUESTION, {"answer": change})
    require(answer.decision == "sales", f"the decision is {answer.decision!r}")


@check(
    "Optional fields may be missing, and unknown ones present.",
    why="Servers differ in confidence, usage, model and extras; none of these is the answer.",
    needs=Needs.RELAYING,
)
async def optional_fields_may_be_missing(subject: Subject) -> None:
    """No confidence, no usage, no model; an extra field at both levels."""
    extras = {"x_kit_extra": {"nested": [1]}}
    missing = {"model": None, "usage": None, **extras}
    change = {"reply": missing, "answer": {"confidence": None, **extras}}
    answer = await _read(subject, _QUESTION, change)
    require(answer.decision == "support", f"the decision is {answer.decision!r}")
