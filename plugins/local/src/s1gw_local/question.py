"""One question of a System One body, checked and turned into texts to compare."""

from typing import Final

import attrs

from gateway_core.errors import UpstreamRejected
from s1gw_local.render import described, plain

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


def fault(path: str, reason: str) -> UpstreamRejected:
    """Return the error for a body whose field at ``path`` breaks a rule."""
    return UpstreamRejected(
        "the embedded engine cannot take this body",
        status=422,
        upstream_message=f"{path}: {reason}",
    )


def read_question(key: str, question: object, state: str) -> Question:
    """Check one question and return it with the text that it judges.

    Args:
        key: its key in the body.
        question: what the body holds there.
        state: the state as text, which may be blank.

    Raises:
        UpstreamRejected: a field is missing or wrong; ``upstream_message`` names its path.
    """
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
