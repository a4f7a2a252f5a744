"""Labelled questions from JSONL: one object a line, every fault told by its line number."""

import hashlib
import json
import unicodedata
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

import attrs

from gateway_core.decide.request import parse_request
from gateway_core.errors import InvalidJson, InvalidRequest
from gateway_core.evaluation.example import Example
from gateway_core.evaluation.recorded import recorded_answer
from gateway_core.strict_json import read_json
from gateway_core.wire.question import YES_NO, Question, QuestionType

_ASKED: Final = ("question", "options", "context")
_NO_LETTERS: Final = "PZC"
"""Unicode categories of punctuation, spaces and control characters."""
_MOST_SHOWN: Final = 20


@attrs.frozen(kw_only=True)
class Labelled:
    """One line that can be used.

    Attributes:
        key: names the question.
        question: what to ask; None in the export of a log that keeps no content.
        gold: the place of the right option.
        recorded: an answer that the line itself holds.
        near: the same for questions that differ only in capitals, spaces, punctuation or the
            order of their options; the key where no content was kept.
        given: when it was asked, ISO 8601; empty where the line does not say.
    """

    key: str
    question: Question | None
    gold: int
    recorded: Example | None
    near: str = ""
    given: str = ""


def read_labelled(lines: Iterable[bytes], *, skip_bad: bool) -> tuple[list[Labelled], int]:
    """Read labelled questions, one JSON object a line; blank lines do not count.

    A line holds ``question``, ``gold``, and ``options`` unless it asks yes or no; ``context``
    if there is any. With ``probabilities``, ``provider`` and ``model`` it holds an answer too,
    as the lines that ``s1gw log export`` writes do.

    Args:
        lines: of the file.
        skip_bad: leave out what cannot be used.

    Returns:
        What can be used, and how many lines were left out.

    Raises:
        InvalidRequest: lines cannot be used and are not to be left out; it names each.
    """
    numbered = ((f"line {n}", line) for n, line in enumerate(lines, 1) if line.strip())
    return _usable(
        ((name, partial(_labelled, line, name)) for name, line in numbered), skip_bad=skip_bad
    )


def read_rows(
    rows: Iterable[tuple[str, Mapping[str, Any]]], *, skip_bad: bool
) -> tuple[list[Labelled], int]:
    """Read rows of a table, each with its name, as ``read_labelled`` does lines of a file."""
    named = ((name, partial(labelled_row, row, name)) for name, row in rows)
    return _usable(named, skip_bad=skip_bad)


def read_entries(
    entries: Iterable[Mapping[str, Any]], *, skip_bad: bool
) -> tuple[list[Labelled], int]:
    """Read labelled entries of a decision log, as ``read_labelled`` does lines of a file."""
    named = ((f"request {entry['request_id']}", partial(labelled_row, entry)) for entry in entries)
    return _usable(named, skip_bad=skip_bad)


def _usable(
    rows: Iterable[tuple[str, Callable[[], Labelled]]], *, skip_bad: bool
) -> tuple[list[Labelled], int]:
    found: list[Labelled] = []
    faults: list[str] = []
    for name, read in rows:
        try:
            found.append(read())
        except (InvalidRequest, ValueError) as error:
            faults.append(f"{name}: {error}")
    if faults and not skip_bad:
        raise InvalidRequest("\n".join([*_shown(faults), "--skip-bad leaves these out"]))
    return found, len(faults)


def _shown(faults: list[str]) -> list[str]:
    more = len(faults) - _MOST_SHOWN
    return faults if more <= 0 else [*faults[:_MOST_SHOWN], f"and {more} more"]


def _labelled(line: bytes, name: str) -> Labelled:
    try:
        # Some programs begin a file with a byte order mark.
        row = read_json(line.removeprefix(BOM_UTF8), "it")
    except InvalidJson as error:
        raise ValueError(str(error)) from None
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    return labelled_row(row, name)


def labelled_row(row: Mapping[str, Any], name: str = "") -> Labelled:
    """Read one line's object, or one entry of a decision log.

    Args:
        row: the object.
        name: names its question where nothing in it does.

    Raises:
        InvalidRequest: its question breaks a rule of the decide contract.
        ValueError: its label or its recorded answer cannot be used.
    """
    question = _question(row)
    answered = row.get("probabilities") is not None
    if question is None and not answered:
        raise ValueError("it holds neither a question nor probabilities")
    names = question.outcomes if question else _names(row)
    key = _key(row, question) or name
    gold = _place(row.get("gold"), names)
    recorded = recorded_answer(row, key, gold, names) if answered else None
    if gold >= len(recorded.probabilities if recorded else names or ()):
        raise ValueError(f"gold: {gold} is not the place of an option")
    near = near_key(question) if question else key
    logged = row.get("logged_at")
    given = logged if isinstance(logged, str) else ""
    if recorded is not None:
        recorded = attrs.evolve(recorded, near=near, given=given)
    return Labelled(
        key=key,
        question=question,
        gold=gold,
        recorded=recorded,
        near=near,
        given=given,
    )


def _question(row: Mapping[str, Any]) -> Question | None:
    if row.get("question") is None:
        return None
    asked = {key: row[key] for key in _ASKED if row.get(key) is not None}
    return parse_request(asked, "").question


def _names(row: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the options' names where no question gives them; None if nothing does."""
    told = row["probabilities"]
    if row.get("question_type") == QuestionType.YES_NO:
        return YES_NO
    if not isinstance(told, dict):
        return None
    return YES_NO if told.keys() == set(YES_NO) else tuple(told)


def _key(row: Mapping[str, Any], question: Question | None) -> str:
    if question is None:
        return str(row.get("digest") or row.get("request_id") or "")
    asked = [question.text, question.options, question.context]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:32]


def near_key(question: Question) -> str:
    """Return a digest that equal questions share however they are typed.

    Capitals, spaces, punctuation and the order of the options do not count; digits do, since
    tickets made from one template differ by their numbers.
    """
    options = sorted(map(_letters, question.outcomes))
    told = [_letters(question.text), options, _letters(json.dumps(question.context))]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32]


def _letters(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(one for one in plain if unicodedata.category(one)[0] not in _NO_LETTERS)


def _place(gold: object, names: tuple[str, ...] | None) -> int:
    if gold is None:
        raise ValueError("gold: missing")
    if names is None:
        if isinstance(gold, bool) or not isinstance(gold, int) or gold < 0:
            raise ValueError("gold: must be the place of an option, from 0")
        return gold
    if not isinstance(gold, str) or gold not in names:
        raise ValueError(f"gold: {gold!r} is not among the options")
    return names.index(gold)
