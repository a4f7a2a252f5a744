"""Asking one provider many labelled questions: bounded, resumable, and no more than is needed."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from time import perf_counter
from typing import Final

import attrs

from gateway_core.errors import ConfigError, ProviderError
from gateway_core.evaluation.agreement import agreed, golds_of
from gateway_core.evaluation.answers import Answers
from gateway_core.evaluation.example import Example
from gateway_core.evaluation.labelled import Labelled
from gateway_core.wire import Answer, Question

AskOne = Callable[[Question], Awaitable[Answer]]

_CHARACTERS_A_TOKEN: Final = 4
_FAILURES_IN_A_ROW: Final = 10
"""So many failures one after the other mean that asking on would be in vain."""


@attrs.frozen(kw_only=True)
class AskingBounds:
    """How hard a provider may be asked.

    Attributes:
        concurrency: how many questions may be under way at once.
        per_minute: how many may be asked a minute; None for as fast as they are answered.
    """

    concurrency: int
    per_minute: float | None


@attrs.define
class Asked:
    """What came of asking.

    Attributes:
        answered: how many questions were answered now.
        failed: how many were not, and can be asked again.
        last_error: the last failure.
        gave_up: whether asking stopped because nothing was answered any more.
    """

    answered: int = 0
    failed: int = 0
    last_error: str = ""
    gave_up: bool = False
    _in_a_row: int = 0

    def success(self) -> None:
        """Count an answer."""
        self.answered += 1
        self._in_a_row = 0

    def failure(self, error: Exception) -> None:
        """Count a failure, and give up after too many in a row."""
        self.failed += 1
        self.last_error = str(error)
        self._in_a_row += 1
        self.gave_up = self._in_a_row >= _FAILURES_IN_A_ROW


def missing(labelled: Sequence[Labelled], answers: Answers, provider: str) -> list[Labelled]:
    """Return the questions that ``provider`` has not answered yet, each once."""
    answered = {
        one.key for one in labelled if one.recorded and one.recorded.provider == provider
    } | answers.by_key.keys()
    found = {one.key: one for one in labelled if one.question and one.key not in answered}
    return list(found.values())


def input_tokens(labelled: Iterable[Labelled]) -> int:
    """Return about how many tokens the questions are, at four characters a token."""
    asked = (one.question for one in labelled if one.question is not None)
    characters = sum(
        len(question.text) + sum(map(len, question.outcomes)) + len(str(question.context or ""))
        for question in asked
    )
    return characters // _CHARACTERS_A_TOKEN


async def ask_all(
    questions: Sequence[Labelled],
    ask: AskOne,
    answers: Answers,
    *,
    model: str,
    bounds: AskingBounds,
    progress: Callable[[int], None],
) -> Asked:
    """Ask every question once and keep the answers as they come.

    Args:
        questions: what to ask.
        ask: asks one question of the provider.
        answers: where answers are kept.
        model: the model that is asked, where the provider does not say which answered.
        bounds: how hard the provider may be asked.
        progress: called with 1 for every question that is done.

    Raises:
        OSError: an answer could not be kept; asking stops.
    """
    asked, waiting, pace = Asked(), iter(questions), _Pace(bounds.per_minute)

    async def work() -> None:
        for one in waiting:
            await pace.wait()
            if asked.gave_up:
                return
            await _ask_one(one, ask, answers, model, asked)
            progress(1)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(bounds.concurrency):
                group.create_task(work())
    except ExceptionGroup as group_error:
        raise group_error.exceptions[0] from None
    return asked


async def _ask_one(one: Labelled, ask: AskOne, answers: Answers, model: str, asked: Asked) -> None:
    if one.question is None:
        return
    begun = perf_counter()
    try:
        answer = await ask(one.question)
    except (ConfigError, ProviderError) as error:
        asked.failure(error)
        return
    answers.keep(one.key, answer, model, (perf_counter() - begun) * 1000)
    asked.success()


@attrs.define
class _Pace:
    """Starts evenly spaced, so that a rate limit is not met in bursts."""

    per_minute: float | None
    _next: float = 0.0

    async def wait(self) -> None:
        if self.per_minute is None:
            return
        now = perf_counter()
        start = max(now, self._next)
        self._next = start + 60 / self.per_minute
        await asyncio.sleep(start - now)


def examples_of(labelled: Iterable[Labelled], answers: Answers, provider: str) -> list[Example]:
    """Return the labelled answers of ``provider``: those recorded, and those asked for.

    One question counts once, however often it occurs: repeated, it is no new evidence. Where
    its labels contradict each other, ``agreed`` says which one counts.
    """
    labelled = list(labelled)
    golds, found = golds_of(labelled), dict[str, Example]()
    for one in labelled:
        kept = answers.by_key.get(one.key)
        if one.recorded is not None and one.recorded.provider == provider:
            answer = one.recorded
        elif one.question is not None and kept is not None and kept.probabilities is not None:
            if one.key in found:
                continue
            answer = Example(
                key=one.key,
                provider=provider,
                model=kept.model,
                question_type=one.question.type,
                probabilities=kept.probabilities,
                gold=one.gold,
                options=one.question.outcomes,
                latency_ms=kept.latency_ms,
                near=one.near,
                given=one.given,
            )
        else:
            continue
        gold = agreed(golds[one.key], answer.probabilities)
        found[one.key] = attrs.evolve(answer, gold=gold)
    return list(found.values())
