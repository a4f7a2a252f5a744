"""A System One body, checked the way a good System One server checks it.

Every fault names the path of the field that is at fault. Unknown keys are ignored, as the
reference server does.
"""

from collections.abc import Mapping
from typing import Any, Final

import attrs

from gateway_core.errors import InvalidJson, RequestTooLarge
from gateway_core.strict_json import read_json
from s1gw_local.question import Question, fault, read_question
from s1gw_local.render import plain

MAX_BYTES: Final = 1_048_576
MAX_CHARACTERS: Final = 200_000
MAX_QUESTIONS: Final = 64


@attrs.frozen(kw_only=True)
class Body:
    """A whole body: the model it names, and its questions in order."""

    model: str
    questions: tuple[Question, ...]


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
        found = read_json(raw, "it")
    except InvalidJson as error:
        raise fault("body", str(error)) from None
    if not isinstance(found, dict):
        raise fault("body", "must be an object")
    return found


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
    asked = tuple(read_question(key, question, text) for key, question in questions.items())
    return Body(model=model, questions=asked)
