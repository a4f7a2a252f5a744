"""A System One body, checked the way a good System One server checks it.

Every fault names the path of the field that is at fault. Unknown keys are ignored, as the
reference server does.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from gateway_core.errors import RequestTooLarge, UpstreamRejected
from s1gw_local.render import described, plain

MAX_BYTES: Final = 1_048_576
MAX_CHARACTERS: Final = 200_000
MAX_QUESTIONS: Final = 64
MAX_OPTIONS: Final = 255
MAX_LEVELS: Final = 10
_NOT_ANSWERED: Final = (
    "is not answered by the embedded engine, which compares topics and cannot tell yes from no; "
    "ask a 'choice' between described labels, or use another provider"
)


@attrs.frozen(kw_only=True)
class Question:
    """One question, ready to be compared.

    Attributes:
        id: its key in the body.
        type: ``choice`` or ``score``.
        subject: the text to be judged: the state, or the instructions if the state is blank.
            Instructions beside a state are not compared: on the tuning set that did harm.
        keys: the keys of its probabilities, in order: labels, or ``"0"`` to ``"n-1"``.
        texts: what each key stands for, as text.
        levels: the levels of a score as they were sent; empty for a choice.
    """

    id: str
    type: str
    subject: str
    keys: tuple[str, ...]
    texts: tuple[str, ...]
    levels: tuple[object, ...] = ()


@attrs.frozen(kw_only=True)
class Body:
    """A whole body: the model it names, and its questions in order."""

    model: str
    questions: tuple[Question, ...]


def fault(path: str, reason: str) -> UpstreamRejected:
    """Return the error for a body whose field at ``path`` breaks a rule."""
    return UpstreamRejected(
        "the embedded engine cannot take this body",
        status=422,
        upstream_message=f"{path}: {reason}",
    )


def read_body(raw: bytes) -> Body:
    """Parse and check one body.

    Raises:
        UpstreamRejected: a field is missing or wrong; ``upstream_message`` names its path.
        RequestTooLarge: the body is larger than this engine reads in reasonable time.
    """
    if len(raw) > MAX_BYTES:
        raise _too_large(f"the body is over {MAX_BYTES:,} bytes")
    try:
        body = _checked(_parsed(raw))
    except RecursionError:
        raise fault("body", "is nested too deeply") from None
    texts = {text for asked in body.questions for text in (asked.subject, *asked.texts)}
    if sum(map(len, texts)) > MAX_CHARACTERS:
        raise _too_large(f"state and criteria hold over {MAX_CHARACTERS:,} characters")
    return body


def _too_large(reason: str) -> RequestTooLarge:
    return RequestTooLarge(
        "the body is too large for the embedded engine", status=413, upstream_message=reason
    )


def _parsed(raw: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(raw, object_pairs_hook=_unique, parse_constant=_no_constant)
    except ValueError as error:
        reason = (
            str(error) if isinstance(error, _DuplicateKeyError) else "is not valid JSON in UTF-8"
        )
        raise fault("body", reason) from None
    if not isinstance(found, dict):
        raise fault("body", "must be an object")
    return found


class _DuplicateKeyError(ValueError):
    """An object that names one key twice, of which JSON parsers keep an arbitrary one."""


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _DuplicateKeyError("has an object with a duplicate key")
    return found


def _no_constant(name: str) -> object:
    raise ValueError(name)


def _checked(body: Mapping[str, Any]) -> Body:
    model, state, questions = (body.get(key) for key in ("model", "state", "questions"))
    if not isinstance(model, str) or not model:
        raise fault("model", "must be a non-empty string")
    if not isinstance(state, str | dict | list):
        raise fault("state", "is required: a string, an object or an array")
    if body.get("assets"):
        raise fault("assets", "images are not read by the embedded engine; send text only")
    if not isinstance(questions, dict) or not questions:
        raise fault("questions", "must be an object with at least one question")
    if len(questions) > MAX_QUESTIONS:
        raise fault("questions", f"must be at most {MAX_QUESTIONS} questions")
    text = plain(state)
    asked = tuple(_question(key, question, text) for key, question in questions.items())
    return Body(model=model, questions=asked)


def _question(key: str, question: object, state: str) -> Question:
    path = f"questions.{key}"
    if not key:
        raise fault("questions", "must not have an empty key")
    if not isinstance(question, dict):
        raise fault(path, "must be an object")
    kind, instructions = question.get("type"), question.get("instructions")
    if kind in ("noul", "box"):
        raise fault(f"{path}.type", f"{kind!r} {_NOT_ANSWERED}")
    if kind not in ("choice", "score"):
        raise fault(f"{path}.type", "must be 'choice' or 'score'")
    if not isinstance(instructions, str | dict | list | None):
        raise fault(f"{path}.instructions", "must be a string, an object or an array")
    subject = state if state.strip() else plain(instructions)
    if not subject.strip():
        raise fault("state", "is blank and so are the instructions: there is nothing to judge")
    read = _choice if kind == "choice" else _score
    return read(key, subject, question.get("criteria"), f"{path}.criteria")


def _choice(key: str, subject: str, criteria: object, path: str) -> Question:
    if not isinstance(criteria, dict) or not 1 <= len(criteria) <= MAX_OPTIONS:
        raise fault(path, f"must be an object of 1 to {MAX_OPTIONS} labels with descriptions")
    for label, description in criteria.items():
        if not label.strip():
            raise fault(path, "must not have a blank label")
        if not isinstance(description, str | dict | list | None):
            raise fault(f"{path}.{label}", "must be a string, an object, an array or null")
    keys = tuple(criteria)
    texts = tuple(described(label, text) for label, text in criteria.items())
    return Question(id=key, type="choice", subject=subject, keys=keys, texts=texts)


def _score(key: str, subject: str, criteria: object, path: str) -> Question:
    if not isinstance(criteria, list) or not 1 <= len(criteria) <= MAX_LEVELS:
        raise fault(path, f"must be an array of 1 to {MAX_LEVELS} levels, lowest first")
    texts = tuple(plain(level) for level in criteria)
    for index, level in enumerate(criteria):
        if not isinstance(level, str | dict | list) or not texts[index].strip():
            raise fault(f"{path}.{index}", "must be a non-blank string, object or array")
    return Question(
        id=key,
        type="score",
        subject=subject,
        keys=tuple(str(index) for index in range(len(criteria))),
        texts=texts,
        levels=tuple(criteria),
    )
