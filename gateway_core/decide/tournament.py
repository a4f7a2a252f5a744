"""More options than a provider takes: groups compete, and their winners again, until one wins.

Probabilities are put together by Luce's choice axiom ("Individual Choice Behavior", 1959): how
two options compare does not depend on which others are there. So an option stands to the winner
of its group as it did in the group, in every round.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import pairwise

import attrs

from gateway_core.wire import Answer, Question

Ask = Callable[[Question], Awaitable[Answer]]
Spread = Mapping[str, float]
"""Probabilities by option."""


async def tournament(
    ask: Ask, question: Question, options: tuple[str, ...], limit: int
) -> tuple[Answer, str | None]:
    """Decide among ``options`` in groups of at most ``limit``.

    Args:
        ask: asks the provider once.
        question: what is asked.
        options: all of them, in the caller's order.
        limit: the most options the provider takes at once.

    Returns:
        The answer over all options, and what it took. When the provider does not decide a
        group, that answer, and None.
    """
    games = _Games(ask, question, limit)
    rounds: list[list[Spread]] = []
    contenders = options
    while not rounds or len(rounds[-1]) > 1:
        spreads = await games.round(contenders)
        if spreads is None:
            return games.last, None
        rounds.append(spreads)
        contenders = tuple(map(winner, spreads))
    note = f"tournament: {len(options)} options in {len(rounds)} rounds and {games.calls} calls"
    if not games.measured:
        return games.last, note
    spread = _composed(rounds)
    return with_spread(games.last, {option: spread[option] for option in options}), note


@attrs.define(eq=False)
class _Games:
    """The calls of one tournament.

    Attributes:
        ask: asks the provider once.
        question: what is asked.
        limit: the most options the provider takes at once.
        calls: how many calls were made.
        measured: whether every answer held probabilities.
        last: the last answer.
    """

    ask: Ask
    question: Question
    limit: int
    calls: int = 0
    measured: bool = True
    last: Answer = attrs.field(factory=Answer)

    async def round(self, contenders: tuple[str, ...]) -> list[Spread] | None:
        """Return the spread of each group; None as soon as the provider does not decide one."""
        spreads: list[Spread] = []
        for group in _groups(contenders, self.limit):
            if len(group) == 1:
                spreads.append({group[0]: 1.0})
                continue
            self.calls += 1
            self.last = await self.ask(attrs.evolve(self.question, options=group))
            if self.last.decision is None:
                return None
            self.measured = self.measured and self.last.probabilities is not None
            spreads.append(self.last.probabilities or {self.last.decision: 1.0})
        return spreads


def winner(spread: Spread) -> str:
    """Return the most probable option, the first one on a tie."""
    return max(spread, key=spread.__getitem__)


def with_spread(answer: Answer, spread: Spread) -> Answer:
    """Return ``answer`` with other probabilities, and the decision that follows from them."""
    # The provider's own confidence is of another question than the one this answers.
    return attrs.evolve(
        answer, decision=winner(spread), probabilities=spread, provider_confidence=None
    )


def _groups(options: tuple[str, ...], limit: int) -> list[tuple[str, ...]]:
    """Split options into as few groups as the limit allows, of about one size, in order."""
    count = -(-len(options) // limit)
    bounds = [len(options) * number // count for number in range(count + 1)]
    return [options[start:end] for start, end in pairwise(bounds)]


def _composed(rounds: Sequence[Sequence[Spread]]) -> dict[str, float]:
    weights = dict(rounds[-1][0])
    for spreads in reversed(rounds[:-1]):
        weights = {
            option: weights[winner(spread)] * p / spread[winner(spread)]
            for spread in spreads
            for option, p in spread.items()
        }
    total = sum(weights.values())
    return {option: weight / total for option, weight in weights.items()}
