"""The System One format: ``state``, a map of ``questions``, a map of ``answers``."""

from collections.abc import Mapping
from typing import Any

from gateway_core.errors import MalformedResponse
from gateway_core.wire.answer import ParsedAnswer, probability
from gateway_core.wire.form import QUESTION_ID, Form


def body(form: Form, model: str) -> dict[str, Any]:
    """Return the request's JSON: a ``noul`` for yes or no, else a ``choice``."""
    named = {"model": model} if model else {}
    return {**named, "state": form.state, "questions": {QUESTION_ID: _question(form)}}


def _question(form: Form) -> dict[str, Any]:
    if form.labels is None:
        return {"type": "noul", "instructions": form.instructions}
    criteria = dict(zip(form.labels, form.descriptions, strict=True))
    return {"type": "choice", "instructions": form.instructions, "criteria": criteria}


def parse_answer(envelope: Mapping[str, Any]) -> ParsedAnswer:
    """Take the one answer out of a reply.

    Raises:
        MalformedResponse: there is no answer, or it is of no known type.
    """
    answers = envelope.get("answers")
    answer = answers.get(QUESTION_ID) if isinstance(answers, dict) else None
    if not isinstance(answer, dict):
        raise MalformedResponse("the reply holds no answer to the question")
    match answer.get("type"):
        case "noul":
            return ParsedAnswer(
                yes=probability(answer.get("noul"), "noul"), abstained=_abstained(answer)
            )
        case "choice":
            return _choice(answer)
        case "refusal":
            return ParsedAnswer(refused=True)
    raise MalformedResponse("the answer is of another type than the question")


def _choice(answer: Mapping[str, Any]) -> ParsedAnswer:
    reported = answer.get("probabilities")
    if reported is not None and not isinstance(reported, dict):
        raise MalformedResponse("the probabilities are not a map")
    return ParsedAnswer(
        choice=answer.get("choice"),
        probabilities=reported,
        confidence=answer.get("confidence"),
        abstained=_abstained(answer),
    )


def _abstained(answer: Mapping[str, Any]) -> bool:
    # Servers of this format have no common word for it; these are the two in use.
    return answer.get("abstain") is True or answer.get("abstention") == "abstained"
