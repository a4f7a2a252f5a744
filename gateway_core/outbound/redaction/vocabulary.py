"""Schema words: what a message may repeat of a request, since the caller needs it to correct it."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from gateway_core.outbound.redaction.search import RUN, Place

_LARGEST_READ: Final = 1024 * 1024
"""Beyond this, questions are not read for their words, which takes time from others."""
_WIRE: Final = frozenset(
    {
        *("state", "model", "questions", "instructions", "criteria", "input", "choices", "levels"),
        *("predicate", "noul", "choice", "score", "probability", "probabilities", "confidence"),
        *("messages", "metadata", "description", "reasoning", "safety_identifier", "image_url"),
        *("prompt_cache_key", "prompt_cache_retention", "prompt_cache_options", "temperature"),
        *("input_image", "input_text", "input_json", "min_confidence", "option_order", "images"),
    }
)
SHORT_FIELDS: Final = frozenset(name for name in _WIRE if len(name) < RUN)
"""Words that are in many texts too; alone they are no content, being shorter than a run."""
_LISTED: Final = frozenset(["value", "label", "name", "type"])
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{11,63}")
_SIX_DIGITS: Final = re.compile(r"[0-9]{6}")


def schema_words(body: bytes, model: str = "") -> set[str]:
    """Return the names in a decision request: of questions, fields, options, levels, the model.

    Args:
        body: the JSON of the request, in either wire format.
        model: the model as it went upstream.
    """
    words = {*_WIRE, model}
    try:
        members = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        members = {}
    words.update(members)
    questions = bytes(members.get("questions", b""))
    if questions and len(questions) <= _LARGEST_READ:
        words.update(_words_of(_parsed(questions)))
    named = _parsed(bytes(members.get("model", b"null"))[:_LARGEST_READ])
    return {word for word in (*words, named) if isinstance(word, str) and word.strip()}


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _words_of(questions: Any) -> Iterator[str]:
    """Yield every key, the labels of options and levels, and the names and types of questions."""
    waiting: list[tuple[str, Any]] = [("questions", questions)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, dict):
            yield from value
            waiting.extend(value.items())
        elif isinstance(value, list):
            waiting.extend((place, each) for each in value)
        elif place in _LISTED or place == "criteria":
            yield str(value)


def places_of(words: set[str], text: str) -> Iterator[Place]:
    """Yield where ``text`` has one of ``words``, whole and in any case."""
    folded = text.casefold()
    if len(folded) != len(text):
        folded = text.lower() if len(text.lower()) == len(text) else text
    for word in filter(folded.__contains__, {word.casefold() for word in words}):
        before = r"(?<![A-Za-z0-9_])" if word[0].isascii() and word[0].isalnum() else ""
        after = r"(?![A-Za-z0-9_])" if word[-1].isascii() and word[-1].isalnum() else ""
        found = re.finditer(before + re.escape(word) + after, folded)
        yield from (place.span() for place in found)


def possible_fields(text: str) -> dict[str, list[tuple[int, int]]]:
    """Return the long words of ``text`` that may be names of fields in the state, with places."""
    found: dict[str, list[tuple[int, int]]] = {}
    for word in _IDENTIFIER.finditer(text):
        if not _SIX_DIGITS.search(word[0]):
            found.setdefault(word[0], []).append(word.span())
    return found


def is_key_in(name: str, piece: bytes) -> bool:
    """Say whether a piece of JSON has ``name`` as the key of an object."""
    quoted = re.escape(f'"{name}"'.encode())
    return re.search(quoted + rb"[ \t\r\n]*:", piece) is not None


def names_a_field(param: str, words: set[str]) -> bool:
    """Say whether ``param`` is a path of names and positions alone, each of them known."""
    steps = [step for step in re.split(r"[.\[\]/'\"]+", param) if step]
    known = words | _LISTED | {"content", "text", "role", "body"}
    return bool(steps) and all(step in known or re.fullmatch("[0-9]{1,4}", step) for step in steps)
