"""More than one call for one answer, where that was asked for: order check and tournament."""

from collections.abc import Sequence
from typing import Final

import attrs

from gateway_core.config.model import DecideConfig
from gateway_core.decide.request import DecideRequest
from gateway_core.decide.tournament import Ask, tournament, with_spread
from gateway_core.wire import Answer, Question

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
        twice, in_groups = request.order_check, request.tournament
        return cls(
            order_check=provider in settings.order_check if twice is None else twice,
            tournament=provider in settings.tournament if in_groups is None else in_groups,
            order_unstable=settings.order_unstable,
        )

    def smallest(self, question: Question, limit: int | None) -> Question:
        """Return the question as the provider gets it: of a tournament, the first group.

        Who takes one option at a time cannot compare any, and gets the whole question.
        """
        if self.tournament and question.options is not None and limit is not None and limit > 1:
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
        answer, note = await tournament(ask, question, options, limit)
        return Consulted(answer=answer, note=note)
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
    told = first.probabilities, second.probabilities
    spread = {option: sum(one[option] for one in told) / len(told) for option in options}
    return Consulted(answer=with_spread(first, spread), note=f"{note}; the mean counts")
