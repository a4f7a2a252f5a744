"""Asking the next provider when the one before is slow: the first valid answer counts."""

import asyncio
from time import perf_counter
from typing import Final

import attrs

from gateway_core.decide.link import Link
from gateway_core.decide.run import Run, Try
from gateway_core.decide.verdict import Verdict
from gateway_core.errors import ProviderTimeout

_MOST: Final = 2
"""So many are asked at once: a slow answer costs two calls, never more."""
_FAREWELL_S: Final = 0.1


@attrs.define(eq=False, kw_only=True)
class Race:
    """One question, put to the next provider too when one is slow.

    A hedge is a fallback that comes early, and so the contract's order holds: whoever would end
    the chain without a call (a provider that takes no yes/no questions) is not a hedge, and
    neither is one that cools down. The first answer that is valid ends the chain, an abstention
    or a refusal as well as a decision; a timeout, an error or a malformed answer does not.

    Attributes:
        run: the question.
        after_s: how long the one that was asked last may take before the next is asked, in
            seconds.
    """

    run: Run
    after_s: float
    _under_way: dict[asyncio.Task[Verdict], Try] = attrs.field(factory=dict, init=False)
    _waiting: Link | None = attrs.field(default=None, init=False)
    _nobody_left: bool = attrs.field(default=False, init=False)

    async def verdict(self) -> Verdict | None:
        """Return the first valid answer, or else what came of the last one; None if nobody was."""
        try:
            while self._ask_who_is_due():
                await asyncio.wait(
                    self._under_way, timeout=self._until_due_s(), return_when="FIRST_COMPLETED"
                )
                if winner := self._first_valid():
                    return await self._won(winner)
            return self.run.last_verdict
        finally:
            await self._give_up()

    def _ask_who_is_due(self) -> bool:
        """Ask the next one if it is time, and return whether an answer is to come."""
        if not self._under_way:
            if link := self._waiting or self.run.next_link():
                self._waiting = None
                self._ask(link)
        elif self._until_due_s() == 0 and (link := self._next_hedge()):
            self._ask(link)
        return bool(self._under_way)

    def _ask(self, link: Link) -> None:
        one = self.run.begin(link)
        self._under_way[asyncio.create_task(self.run.ask(one))] = one

    def _next_hedge(self) -> Link | None:
        """Return the next provider that would really be called."""
        while link := self.run.next_link(at_any_cost=False):
            verdict = self.run.without_a_call(link)
            if verdict is None:
                return link
            if verdict.error is None:
                self._waiting = link
                break
            self.run.begin(link).end(verdict)
        self._nobody_left = True
        return None

    def _until_due_s(self) -> float | None:
        """Return how long to wait before the next is asked; None while nobody is to be."""
        if len(self._under_way) >= _MOST or self._nobody_left:
            return None
        newest = max(one.begun for one in self.run.tries if not one.passed_over)
        failed = newest > max(one.begun for one in self._under_way.values())
        return 0.0 if failed else max(0.0, newest + self.after_s - perf_counter())

    def _first_valid(self) -> Try | None:
        """Take note of who is done; return the first in order whose answer ends the chain."""
        done = [(task, one) for task, one in self._under_way.items() if task.done()]
        for task, _ in done:
            del self._under_way[task]
            # What is raised here is no failure of a provider.
            task.result()
        valid = (one for _, one in done if one.verdict and one.verdict.error is None)
        return next(valid, None)

    async def _won(self, winner: Try) -> Verdict:
        """Cancel the others and say what they cost."""
        losers = list(self._under_way.values())
        await self._give_up()
        for one in losers:
            one.end(_lost(one, winner))
        verdict = winner.verdict or Verdict()
        return attrs.evolve(verdict, warnings=(*verdict.warnings, *map(self._cost, losers)))

    def _cost(self, one: Try) -> str:
        return (
            f"hedged after {self.after_s:g} s: {one.link.name} was asked as well, and cancelled "
            f"after {one.took_s:.2f} s; that call may still be charged for"
        )

    async def _give_up(self) -> None:
        tasks = list(self._under_way)
        self._under_way.clear()
        for task in tasks:
            task.cancel()
        if tasks:
            # A plugin that does not end when it is cancelled keeps nobody waiting.
            await asyncio.wait(tasks, timeout=_FAREWELL_S)


def _lost(one: Try, winner: Try) -> Verdict:
    late = f"cancelled, {winner.link.name} had answered first; it may still be charged for"
    error = ProviderTimeout(late)
    # It is no failure that an operator has to look for.
    error.cause = None
    return Verdict(error=error, calls=one.session.calls if one.session else 0)
