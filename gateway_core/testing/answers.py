"""What a well-behaved upstream answers: a valid reply to any body of the two formats."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from gateway_core.testing.messages import Received, Reply

_USAGE: Final = {"input_tokens": 20, "output_tokens": 2}
_LIKELY: Final = 0.75


def standard_answer(received: Received) -> Reply:
    """Answer a System One or OpenAI Decisions body; the last option is the most probable."""
    if received.method != "POST":
        return Reply(body={"object": "list", "data": [], "models": []})
    request = received.json()
    make = _openai if isinstance(request["questions"], list) else _systemone
    answers = make(request["questions"])
    return Reply(body={"model": request.get("model", "m"), "answers": answers, "usage": _USAGE})


def wrapped(reply: Reply, path: Sequence[str]) -> Reply:
    """Put the body of a reply under the keys of ``path``, outermost first."""
    body = reply.body
    for key in reversed(path):
        body = {key: body}
    return attrs.evolve(reply, body=body)


def rising(count: int) -> list[float]:
    """Return ``count`` probabilities, each larger than the one before, that sum to 1."""
    total = count * (count + 1) / 2
    return [number / total for number in range(1, count + 1)]


def _systemone(questions: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _systemone_answer(question) for name, question in questions.items()}


def _systemone_answer(question: Mapping[str, Any]) -> dict[str, Any]:
    if question["type"] == "noul":
        return {"type": "noul", "noul": _LIKELY}
    criteria = question["criteria"]
    scored = question["type"] == "score"
    keys = [str(index) for index in range(len(criteria))] if scored else list(criteria)
    spread = dict(zip(keys, rising(len(keys)), strict=True))
    common = {"type": question["type"], "probabilities": spread, "confidence": 0.5}
    if scored:
        score = sum(int(key) * p for key, p in spread.items())
        return {**common, "score": score, "legend": dict(zip(keys, criteria, strict=True))}
    return {**common, "choice": keys[-1]}


def _openai(questions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{"name": question.get("name"), **_openai_answer(question)} for question in questions]


def _openai_answer(question: Mapping[str, Any]) -> dict[str, Any]:
    if question["type"] == "predicate":
        return {"type": "predicate", "probability": _LIKELY}
    scored = question["type"] == "score"
    items = question["levels" if scored else "choices"]
    pairs = list(enumerate(zip(items, rising(len(items)), strict=True)))
    if scored:
        levels = [{"value": i, "label": item["label"], "probability": p} for i, (item, p) in pairs]
        score = sum(level["value"] * level["probability"] for level in levels)
        return {"type": "score", "score": score, "confidence": 0.5, "probabilities": levels}
    entries = [{"value": item["value"], "probability": p} for _, (item, p) in pairs]
    choice = items[-1]["value"]
    return {"type": "choice", "choice": choice, "confidence": 0.5, "probabilities": entries}
