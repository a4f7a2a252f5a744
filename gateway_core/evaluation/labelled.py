"""Labelled questions from JSONL: one object a line, every fault told by its line number."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs

from gateway_core.decide.request import parse_request
from gateway_core.errors import InvalidRequest
from gateway_core.evaluation.example import Example
from gateway_core.wire.answer import summing_to_one
from gateway_core.wire.question import YES_NO, Question, QuestionType

_ASKED: Final = ("question", "options", "context")
_MOST_SHOWN: Final = 20


@attrs.frozen(kw_only=True)
class Labelled:
    """One line that can be used.

    Attributes:
        key: names the question.
        question: what to ask; None in the export of a log that keeps no content.
        gold: the place of the right option.
        recorded: an answer that the line itself holds.
    """

    key: str
    question: Question | None
    gold: int
    recorded: Example | None


def read_labelled(lines: Iterable[str], *, skip_bad: bool) -> list[Labelled]:
    """Read labelled questions, one JSON object a line; blank lines do not count.

    A line holds ``question``, ``gold``, and ``options`` unless it asks yes or no; ``context``
    if there is any. With ``probabilities``, ``provider`` and ``model`` it holds an answer too,
    as the lines that ``s1gw log export`` writes do.

    Args:
        lines: of the file.
        skip_bad: leave out what cannot be used.

    Raises:
        InvalidRequest: lines cannot be used and are not to be left out; it names each.
    """
    found: list[Labelled] = []
    faults: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found.append(_labelled(line))
        except (InvalidRequest, ValueError) as error:
            faults.append(f"line {number}: {error}")
    if faults and not skip_bad:
        raise InvalidRequest("\n".join([*_shown(faults), "--skip-bad leaves these lines out"]))
    return found


def _shown(faults: list[str]) -> list[str]:
    more = len(faults) - _MOST_SHOWN
    return faults if more <= 0 else [*faults[:_MOST_SHOWN], f"and {more} more"]


def _labelled(line: str) -> Labelled:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    return labelled_row(row)


def labelled_row(row: Mapping[str, Any]) -> Labelled:
    """Read one line's object, or one entry of a decision log.

    Raises:
        InvalidRequest: its question breaks a rule of the decide contract.
        ValueError: its label or its recorded answer cannot be used.
    """
    question = _question(row)
    answered = row.get("probabilities") is not None
    if question is None and not answered:
        raise ValueError("it holds neither a question nor probabilities")
    names = question.outcomes if question else _names(row)
    key = _key(row, question)
    gold = _place(row.get("gold"), names)
    recorded = None
    if answered:
        spread = _spread(row["probabilities"], names)
        recorded = _recorded(row, key, spread, gold, names)
    if gold >= len(recorded.probabilities if recorded else names or ()):
        raise ValueError(f"gold: {gold} is not the place of an option")
    return Labelled(key=key, question=question, gold=gold, recorded=recorded)


def _type(row: Mapping[str, Any], names: tuple[str, ...] | None) -> QuestionType:
    # Yes and no may also be the options of a question that names them.
    named = row.get("options") is not None or row.get("question_type") == QuestionType.OPTIONS
    return QuestionType.YES_NO if names == YES_NO and not named else QuestionType.OPTIONS


def _question(row: Mapping[str, Any]) -> Question | None:
    if row.get("question") is None:
        return None
    asked = {key: row[key] for key in _ASKED if row.get(key) is not None}
    return parse_request(asked, "").question


def _names(row: Mapping[str, Any]) -> tuple[str, ...] | None:
    return YES_NO if row.get("question_type") == QuestionType.YES_NO else None


def _key(row: Mapping[str, Any], question: Question | None) -> str:
    if question is None:
        return str(row.get("digest") or row.get("request_id") or "")
    asked = [question.text, question.options, question.context]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:32]


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


def _spread(reported: Any, names: tuple[str, ...] | None) -> tuple[float, ...]:
    """Return reported probabilities in the options' order, checked and summing to 1."""
    if isinstance(reported, dict) and names is not None:
        if reported.keys() != set(names):
            raise ValueError("probabilities: not over exactly the options")
        reported = [reported[name] for name in names]
    if not isinstance(reported, list) or len(reported) < 2:
        raise ValueError("probabilities: must be an object by option, or a list in their order")
    if names is not None and len(reported) != len(names):
        raise ValueError("probabilities: not as many as there are options")
    if any(isinstance(p, bool) or not isinstance(p, int | float) for p in reported):
        raise ValueError("probabilities: must be numbers")
    if not all(0 <= p <= 1 for p in reported):
        raise ValueError("probabilities: must be within [0, 1]")
    spread = summing_to_one(reported)
    if spread is None:
        raise ValueError(f"probabilities: sum to {sum(reported):.4g}, not to 1")
    return tuple(spread)


def _recorded(
    row: Mapping[str, Any],
    key: str,
    spread: tuple[float, ...],
    gold: int,
    names: tuple[str, ...] | None,
) -> Example:
    provider, model = row.get("provider"), row.get("model")
    if not isinstance(provider, str) or not isinstance(model, str) or not provider or not model:
        raise ValueError("an answer needs the provider and the model that gave it")
    took = row.get("latency_ms")
    return Example(
        key=key,
        provider=provider,
        model=model,
        question_type=_type(row, names),
        probabilities=spread,
        gold=gold,
        options=names or tuple(str(number) for number in range(1, len(spread) + 1)),
        latency_ms=float(took) if isinstance(took, int | float) else None,
    )
