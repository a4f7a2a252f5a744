"""Middleware around the chain: each layer isolated, all of them within the deadline."""

import logging
from collections.abc import Sequence
from time import perf_counter
from typing import Final

import attrs

from gateway_core.decide.chain import Chain
from gateway_core.decide.reply import Attempt, Outcome
from gateway_core.decide.request import DecideRequest
from gateway_core.decide.verdict import Status, Verdict
from gateway_core.errors import MiddlewareFailed, MiddlewareTimeout
from gateway_core.hooks import interrupts
from gateway_core.middleware.spec import Middleware
from gateway_core.places import place_of
from gateway_core.time_limits import TimeLimit

_log: Final = logging.getLogger("s1gw.middleware")
_CHAIN: Final = "the chain"
_RESERVE_S: Final = 0.25
_RESERVE_SHARE: Final = 0.05


@attrs.frozen(kw_only=True, eq=False)
class Layer:
    """One middleware in its place.

    Attributes:
        name: its name in the configuration.
        middleware: the instance.
    """

    name: str
    middleware: Middleware

    @property
    def label(self) -> str:
        """How an error calls it."""
        return f"middleware {self.name!r}"


@attrs.frozen(kw_only=True, eq=False)
class Layers:
    """The chain with middleware around it; answers a call as the chain alone does.

    Attributes:
        layers: outermost first.
        chain: who is asked in the end.
    """

    layers: Sequence[Layer]
    chain: Chain

    async def answer(self, request: DecideRequest, started: float) -> Outcome:
        """Take a call through every layer; see ``Chain.answer``."""
        passage = _Passage(layers=self.layers, chain=self.chain, started=started, request=request)
        return await passage.answer()


@attrs.define(kw_only=True, eq=False)
class _Passage:
    """One call on its way.

    Attributes:
        layers: outermost first.
        chain: who is asked in the end.
        started: when the call began, on ``perf_counter``'s clock.
        request: the call as it reached the innermost place so far.
        depth: that place.
        at: whose code runs now.
        attempts: the providers that were tried, in every pass through the chain.
    """

    layers: Sequence[Layer]
    chain: Chain
    started: float
    request: DecideRequest
    depth: int = 0
    at: str = _CHAIN
    attempts: tuple[Attempt, ...] = ()

    async def answer(self) -> Outcome:
        deadline_s = self.chain.settings.deadline_s
        try:
            with TimeLimit(deadline_s - (perf_counter() - self.started)):
                outcome = await self._enter(0, self.request)
        except TimeoutError:
            late = MiddlewareTimeout(f"{self.at}: not done within {deadline_s:g} s")
            outcome = Outcome(verdict=Verdict(error=late))
        # Who was asked is the host's to say: a middleware may let a call proceed twice, and
        # return one of the answers, or one that it kept from another call.
        return attrs.evolve(outcome, request=self.request, attempts=self.attempts)

    async def _enter(self, depth: int, request: DecideRequest) -> Outcome:
        if depth >= self.depth:
            self.depth, self.request = depth, request
        if depth == len(self.layers):
            return await self._ask(request)
        layer = self.layers[depth]

        async def proceed(changed: DecideRequest) -> Outcome:
            if not isinstance(changed, DecideRequest):
                raise TypeError("proceed takes a DecideRequest")
            outcome = await self._enter(depth + 1, changed)
            self.at = layer.label
            return outcome

        self.at = layer.label
        try:
            outcome: object = await layer.middleware.decide(request, proceed)
        # A middleware is a stranger's code, and what it raises may hold the question: only the
        # type's name is told, and the log names the place.
        except BaseException as error:
            if interrupts(error):
                raise
            return self._failed(layer, f"raised {type(error).__name__}", place_of(error))
        if isinstance(outcome, Outcome) and isinstance(outcome.verdict, Verdict):
            fault = _fault(outcome.verdict, request.question.outcomes)
            return self._failed(layer, fault) if fault else outcome
        return self._failed(layer, "did not return an Outcome")

    async def _ask(self, request: DecideRequest) -> Outcome:
        self.at = _CHAIN
        # The chain ends a little early, so that its answer can still be handled.
        reserve_s = min(_RESERVE_S, self.chain.settings.deadline_s * _RESERVE_SHARE)
        outcome = await self.chain.answer(request, self.started - reserve_s)
        self.attempts += outcome.attempts
        return outcome

    def _failed(self, layer: Layer, reason: str, place: str = "") -> Outcome:
        _log.warning("%s %s%s", layer.label, reason, place)
        error = MiddlewareFailed(f"{layer.label} {reason}")
        return Outcome(verdict=Verdict(error=error), attempts=self.attempts)


def _fault(verdict: Verdict, outcomes: Sequence[str]) -> str | None:
    """Return what keeps a verdict from being an answer to a question with these outcomes."""
    decided = verdict.status is Status.DECIDED
    if decided and verdict.decision not in outcomes:
        return "decided on something that is not one of the options"
    if not decided and verdict.decision is not None:
        return "returned a decision beside a reason or an error"
    if verdict.probabilities is not None and verdict.probabilities.keys() != set(outcomes):
        return "returned probabilities that are not over exactly the options"
    return None
