"""More than one call for one answer, where that was asked for: order check and tournament."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

import attrs

from gateway_core.config.model import DecideConfig
from gateway_core.decide.request import DecideRequest
from gateway_core.wire import Answer, Question

Ask = Callable[[Question], Awaitable[Answer]]

ABSTAIN: Final = "abstain"


@attrs.frozen(kw_only=True)
class Robustness:
    """What goes beyond asking once.

    Attributes:
        order_check: ask again with the options reversed, and compare.
        tournament: ask about more options than the provider takes, in groups.
        order_unstable: what two orders that disagree come to: ``abstain``, or ``mean`` of
            the probabilities.
    """

    order_check: bool = False
    tournament: bool = False
    order_unstable: str = ABSTAIN

    @classmethod
    def of(cls, request: DecideRequest, provider: str, settings: DecideConfig) -> "Robustness":
        """Return what the call wants, or else the configuration for this provider."""
        order_check, tournament = request.order_check, request.tournament
        return cls(
            order_check=provider in settings.order_check if order_check is None else order_check,
            tournament=provider in settings.tournament if tournament is None else tournament,
            order_unstable=settings.order_unstable,
        )

    def smallest(self, question: Question, limit: int | None) -> Question:
        """Return the question as the provider gets it: of a tournament, the first group."""
        if self.tournament and question.options is not None and limit is not None:
            return attrs.evolve(question, options=question.options[:limit])
        return question


@attrs.frozen(kw_only=True)
class Consulted:
    """An answer, and what it took.

    Attributes:
        answer: the one that counts.
        unstable: whether it changes with the order of the options.
        note: what was done beyond asking once; None when nothing was.
    """

    answer: Answer
    unstable: bool = False
    note: str | None = None


async def consult(ask: Ask, question: Question, limit: int | None, how: Robustness) -> Consulted:
    """Ask one provider as often as ``how`` wants.

    Args:
        ask: asks the provider once.
        question: what is asked.
        limit: the most options the provider takes at once; None for no limit.
        how: what goes beyond asking once; a tournament checks no order.
    """
    options = question.options
    if options is not None and limit is not None and len(options) > limit and how.tournament:
        return await _tournament(ask, options, question, limit)
    if options is not None and how.order_check:
        return await _order_check(ask, options, question, how)
    return Consulted(answer=await ask(question))


async def _order_check(
    ask: Ask, options: Sequence[str], question: Question, how: Robustness
) -> Consulted:
    first = await ask(question)
    if first.decision is None:
        return Consulted(answer=first)
    second = await ask(attrs.evolve(question, options=tuple(reversed(options))))
    if second.decision is None:
        return Consulted(answer=second)
    if first.decision == second.decision:
        return Consulted(answer=first, note="order check: both orders agree")
    note = "order check: with the options reversed it decides otherwise"
    if how.order_unstable == ABSTAIN or not first.probabilities or not second.probabilities:
        return Consulted(answer=first, unstable=True, note=note)
    pairs = zip(first.probabilities.items(), map(second.probabilities.get, options), strict=True)
    spread = {option: (p + (other or 0.0)) / 2 for (option, p), other in pairs}
    return Consulted(answer=_answer(first, spread), note=f"{note}; the mean counts")


async def _tournament(
    ask: Ask, options: tuple[str, ...], question: Question, limit: int
) -> Consulted:
    """Let the options compete in groups, and the groups' winners again, until one wins.

    Probabilities are put together by Luce's choice axiom ("Individual Choice Behavior",
    1959): how two options compare does not depend on which others are there. So an option
    stands to the winner of its group as it did in the group, in every round.
    """
    rounds: list[list[Mapping[str, float]]] = []
    contenders, calls, answer, measured = options, 0, Answer(), True
    while not rounds or len(rounds[-1]) > 1:
        spreads: list[Mapping[str, float]] = []
        for group in _groups(contenders, limit):
            if len(group) == 1:
                spreads.append({group[0]: 1.0})
                continue
            answer = await ask(attrs.evolve(question, options=group))
            calls += 1
            if answer.decision is None:
                return Consulted(answer=answer)
            measured = measured and answer.probabilities is not None
            spreads.append(answer.probabilities or {answer.decision: 1.0})
        rounds.append(spreads)
        contenders = tuple(map(_winner, spreads))
    note = f"tournament: {len(options)} options in {len(rounds)} rounds and {calls} calls"
    spread = _composed(rounds)
    if measured:
        answer = _answer(answer, {option: spread[option] for option in options})
    return Consulted(answer=answer, note=note)


def _groups(options: tuple[str, ...], limit: int) -> list[tuple[str, ...]]:
    """Split options into as few groups as the limit allows, of about one size, in order."""
    count = -(-len(options) // limit)
    bounds = [len(options) * number // count for number in range(count + 1)]
    return [options[start:end] for start, end in pairwise(bounds)]


def _winner(spread: Mapping[str, float]) -> str:
    return max(spread, key=spread.__getitem__)


def _composed(rounds: list[list[Mapping[str, float]]]) -> dict[str, float]:
    weights = dict(rounds[-1][0])
    for spreads in reversed(rounds[:-1]):
        weights = {
            option: weights[_winner(spread)] * p / spread[_winner(spread)]
            for spread in spreads
            for option, p in spread.items()
        }
    total = sum(weights.values())
    return {option: weight / total for option, weight in weights.items()}


def _answer(answer: Answer, spread: Mapping[str, float]) -> Answer:
    # The provider's own confidence is of another question than the one this answers.
    return attrs.evolve(
        answer, decision=_winner(spread), probabilities=spread, provider_confidence=None
    )
