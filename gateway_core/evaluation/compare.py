"""Two providers side by side: how often they agree, and which of them is right more often."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

import attrs

from gateway_core.calibration.fitfile import Estimate
from gateway_core.evaluation.example import Example
from gateway_core.evaluation.shares import paired_difference, share

LoggedAnswer = Mapping[str, Any]
"""An entry of the decision log, as ``LogReader`` gives it."""
AnswersByQuestion = dict[tuple[str, str], LoggedAnswer]
"""One provider's decisions, by request id and digest of the question."""


@attrs.frozen(kw_only=True)
class Side:
    """One of the two providers, over the questions that both answered.

    Attributes:
        provider: its name.
        answered: how many questions of the log it answered.
        failed: how many it did not, for whatever reason.
        latency_ms: median time to its answer, in milliseconds.
        accuracy: share of labelled pairs that it got right; None without labels.
    """

    provider: str
    answered: int
    failed: int
    latency_ms: float | None
    accuracy: Estimate | None


@attrs.frozen(kw_only=True)
class Comparison:
    """What a decision log says about two providers.

    Attributes:
        first: one provider.
        second: the other.
        pairs: how many questions both answered.
        agreement: share of them on which both decided the same; None without pairs.
        labelled: how many of the pairs have labels.
        difference: accuracy of the first less that of the second; None without labels.
        p_value: of the hypothesis that neither is right more often (McNemar's exact test).
        disagreements: request ids of the pairs they disagree on, oldest first.
    """

    first: Side
    second: Side
    pairs: int
    agreement: Estimate | None
    labelled: int
    difference: Estimate | None
    p_value: float | None
    disagreements: tuple[str, ...]


def pairs_of(first: Iterable[Example], second: Iterable[Example]) -> list[tuple[Example, Example]]:
    """Return the examples of two providers that answer the same question, in the first's order."""
    by_key = {one.key: one for one in second}
    return [(one, by_key[one.key]) for one in first if one.key in by_key]


def compare(entries: Iterable[LoggedAnswer], first: str, second: str) -> Comparison:
    """Compare two providers on the questions of a decision log that both were asked.

    Args:
        entries: of the log.
        first: a provider's name.
        second: another's.
    """
    answers, failed = _by_question(entries, (first, second))
    keys = [key for key in answers[first] if key in answers[second]]
    pairs = [(answers[first][key], answers[second][key]) for key in keys]
    known = [pair for pair in pairs if pair[0]["gold"] is not None]
    right = [[one["decision"] == one["gold"] for one in side] for side in zip(*known, strict=True)]
    mine, theirs = right or ([], [])
    gap = paired_difference(mine, theirs)
    return Comparison(
        first=_side(first, answers[first], failed[first], mine),
        second=_side(second, answers[second], failed[second], theirs),
        pairs=len(pairs),
        agreement=share([one["decision"] == other["decision"] for one, other in pairs]),
        labelled=len(known),
        difference=gap.estimate if gap else None,
        p_value=gap.p_value if gap else None,
        disagreements=tuple(
            one["request_id"] for one, other in pairs if one["decision"] != other["decision"]
        ),
    )


def _by_question(
    entries: Iterable[LoggedAnswer], providers: Iterable[str]
) -> tuple[dict[str, AnswersByQuestion], dict[str, int]]:
    """Return what each provider decided, by question, and how often it decided nothing."""
    answers: dict[str, AnswersByQuestion] = {provider: {} for provider in providers}
    failed = dict.fromkeys(answers, 0)
    for entry in entries:
        provider = entry["provider"]
        if provider not in answers:
            continue
        if entry["decision"] is None:
            failed[provider] += 1
        else:
            answers[provider][entry["request_id"], entry["digest"]] = entry
    return answers, failed


def _side(provider: str, answers: AnswersByQuestion, failed: int, right: Sequence[bool]) -> Side:
    times = [entry["latency_ms"] for entry in answers.values() if entry["latency_ms"] is not None]
    return Side(
        provider=provider,
        answered=len(answers),
        failed=failed,
        latency_ms=median(times) if times else None,
        accuracy=share(right),
    )
