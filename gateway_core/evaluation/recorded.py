"""The answer that a labelled line may hold beside its question."""

from collections.abc import Mapping
from typing import Any, Final

from gateway_core.evaluation.example import Example
from gateway_core.wire.question import YES_NO, QuestionType
from gateway_core.wire.rounding import summing_to_one

_LONGEST_MS: Final = 1e9


def recorded_answer(
    row: Mapping[str, Any], key: str, gold: int, names: tuple[str, ...] | None
) -> Example:
    """Return the answer that a line holds.

    Args:
        row: the line's object.
        key: names its question.
        gold: the place of the right option.
        names: the options' names; None where no content was kept.

    Raises:
        ValueError: the answer cannot be used; the message says why.
    """
    spread = _spread(row["probabilities"], names)
    provider, model = row.get("provider"), row.get("model")
    if not isinstance(provider, str) or not isinstance(model, str) or not provider or not model:
        raise ValueError("an answer needs the provider and the model that gave it")
    return Example(
        key=key,
        provider=provider,
        model=model,
        question_type=_type(row, names),
        probabilities=spread,
        gold=gold,
        options=names or tuple(str(number) for number in range(1, len(spread) + 1)),
        latency_ms=_latency(row.get("latency_ms")),
    )


def _latency(took: Any) -> float | None:
    if took is None:
        return None
    if isinstance(took, bool) or not isinstance(took, int | float) or not 0 <= took <= _LONGEST_MS:
        raise ValueError("latency_ms: must be a number of milliseconds, from 0")
    return float(took)


def _type(row: Mapping[str, Any], names: tuple[str, ...] | None) -> QuestionType:
    if row.get("question_type") not in (None, *QuestionType):
        raise ValueError("question_type: must be options or yes_no")
    # Yes and no may also be the options of a question that names them.
    named = row.get("options") is not None or row.get("question_type") == QuestionType.OPTIONS
    return QuestionType.YES_NO if names == YES_NO and not named else QuestionType.OPTIONS


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
