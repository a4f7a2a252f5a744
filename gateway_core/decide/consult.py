"""More than one call for one answer, where that was asked for: two checks, and a tournament."""

from collections.abc import Sequence
from typing import Final

import attrs

from gateway_core.config.model import DecideConfig
from gateway_core.decide.request import DecideRequest
from gateway_core.decide.session import ProviderSession
from gateway_core.decide.tournament import tournament, with_spread
from gateway_core.wire import Answer, Question

ABSTAIN: Final = "abstain"


@attrs.frozen(kw_only=True)
class AskStrategy:
    """What goes beyond asking once.

    Attributes:
        order_check: ask again with the options reversed, and compare.
        tournament: ask about more options than the provider takes, in groups.
        order_unstable: what two orders that disagree come to: ``abstain``, or ``mean`` of
            the probabilities.
        opposite: the yes/no question in the opposite wording, to be asked as well; None if it
            is not.
    """

    order_check: bool = False
    tournament: bool = False
    order_unstable: str = ABSTAIN
    opposite: str | None = None

    @classmethod
    def of(cls, request: DecideRequest, provider: str, settings: DecideConfig) -> "AskStrategy":
        """Return what the call wants, or else the configuration for this provider."""
        twice, in_groups = request.order_check, request.tournament
        return cls(
            order_check=provider in settings.order_check if twice is None else twice,
            tournament=provider in settings.tournament if in_groups is None else in_groups,
            order_unstable=settings.order_unstable,
            opposite=request.opposite,
        )

    def asked(self, question: Question, limit: int | None) -> tuple[Question, ...]:
        """Return what a provider that takes ``limit`` options has to be able to take."""
        smallest = self._smallest(question, limit)
        if self.opposite is None or question.options is not None:
            return (smallest,)
        return smallest, attrs.evolve(question, text=self.opposite)

    def _smallest(self, question: Question, limit: int | None) -> Question:
        """Return the question as the provider gets it: of a tournament, the first group.

        Who takes one option at a time cannot compare any, and gets the whole question.
        """
        if self.tournament and question.options is not None and limit is not None and limit > 1:
            return attrs.evolve(question, options=question.options[:limit])
        return question


async def consult(session: ProviderSession, question: Question, how: AskStrategy) -> Answer:
    """Ask one provider as often as ``how`` wants, and return the answer that counts.

    What was done beyond asking once, and whether the answer is stable, is noted in ``session``.

    Args:
        session: asks the provider.
        question: what is asked.
        how: what goes beyond asking once; a tournament checks no order.

    Raises:
        ConfigError: as ``ProviderSession.ask`` does.
        ProviderError: likewise.
    """
    options, limit = question.options, session.provider.capabilities.max_options
    if options is not None and limit is not None and len(options) > limit and how.tournament:
        answer, session.note = await tournament(session.ask, question, options, limit)
        return answer
    if options is not None and how.order_check:
        return await _order_check(session, options, question, how)
    if options is None and how.opposite is not None:
        return await _polarity_check(session, question, how.opposite)
    return await session.ask(question)


async def _polarity_check(session: ProviderSession, question: Question, opposite: str) -> Answer:
    first = await session.ask(question)
    if first.decision is None:
        return first
    second = await session.ask(attrs.evolve(question, text=opposite))
    if second.decision is None:
        return second
    # A yes to both, or a no to both, is what a model says that leans to one of the words.
    session.conflict = first.decision == second.decision
    same = "asked the opposite, it contradicts itself" if session.conflict else "both agree"
    session.note = f"polarity check: {same}"
    return first


async def _order_check(
    session: ProviderSession, options: Sequence[str], question: Question, how: AskStrategy
) -> Answer:
    first = await session.ask(question)
    if first.decision is None:
        return first
    second = await session.ask(attrs.evolve(question, options=tuple(reversed(options))))
    if second.decision is None:
        return second
    if first.decision == second.decision:
        session.note = "order check: both orders agree"
        return first
    session.note = "order check: with the options reversed it decides otherwise"
    if how.order_unstable == ABSTAIN or not first.probabilities or not second.probabilities:
        session.unstable = True
        return first
    session.note += "; the mean counts"
    both = first.probabilities, second.probabilities
    mean = {option: sum(one[option] for one in both) / len(both) for option in options}
    return with_spread(first, mean)
