"""The OpenAI Decisions format: ``input``, a list of ``questions``, a list of ``answers``."""

import json
from collections.abc import Mapping
from typing import Any

from gateway_core.errors import MalformedResponse
from gateway_core.wire.answer import ParsedAnswer, probability
from gateway_core.wire.form import QUESTION_ID, Form


def body(form: Form, model: str) -> dict[str, Any]:
    """Return the request's JSON: a ``predicate`` for yes or no, else a ``choice``."""
    named = {"model": model} if model else {}
    return {**named, "input": _input(form), "questions": [_question(form)]}


def _input(form: Form) -> str:
    # JSON text rather than an input_json part: servers of this format that are not the
    # vendor's own take text only, and the part has limits that text has not.
    if isinstance(form.state, str):
        return form.state
    return json.dumps(form.state, ensure_ascii=False)


def _question(form: Form) -> dict[str, Any]:
    asked = {"name": QUESTION_ID, "instructions": form.instructions}
    if form.labels is None:
        return {"type": "predicate", **asked}
    pairs = zip(form.labels, form.descriptions, strict=True)
    return {"type": "choice", **asked, "choices": [_option(*pair) for pair in pairs]}


def _option(label: str, description: str | None) -> dict[str, str]:
    return {"value": label} if description is None else {"value": label, "description": description}


def parse_answer(envelope: Mapping[str, Any]) -> ParsedAnswer:
    """Take the one answer out of a reply.

    Raises:
        MalformedResponse: there is no answer, more than one, or one of no known type.
    """
    answers = envelope.get("answers")
    if not isinstance(answers, list) or len(answers) != 1 or not isinstance(answers[0], dict):
        raise MalformedResponse("the reply does not hold one answer to the question")
    answer = answers[0]
    if answer.get("name") not in (None, QUESTION_ID):
        raise MalformedResponse("the answer is to another question")
    match answer.get("type"):
        case "predicate":
            return ParsedAnswer(yes=probability(answer.get("probability"), "probability"))
        case "choice":
            return _choice(answer)
        case "refusal":
            return ParsedAnswer(refused=True)
    raise MalformedResponse("the answer is of another type than the question")


def _choice(answer: Mapping[str, Any]) -> ParsedAnswer:
    return ParsedAnswer(
        choice=answer.get("choice"),
        probabilities=_by_value(answer.get("probabilities")),
        confidence=answer.get("confidence"),
    )


def _by_value(entries: object) -> dict[str, object] | None:
    if entries is None:
        return None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise MalformedResponse("the probabilities are not a list of values")
    values = [entry.get("value") for entry in entries]
    # Values are typed: the boolean true is another value than the text "true".
    if not all(isinstance(value, str) for value in values) or len(set(values)) != len(values):
        raise MalformedResponse("the probabilities are not over exactly the options")
    return {entry["value"]: entry.get("probability") for entry in entries}
