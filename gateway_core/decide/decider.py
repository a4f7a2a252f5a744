"""The whole of one call: check, look whether it is paused, ask the chain, reply, tell."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Final, Protocol

import attrs

from gateway_core import logs
from gateway_core.decide.observe import DecisionRecord, Observer, tell
from gateway_core.decide.reply import Attempt, Outcome, reply
from gateway_core.decide.request import DecideRequest, parse_request, request_id_of
from gateway_core.decide.verdict import Verdict, paused
from gateway_core.errors import InvalidRequest

_log: Final = logging.getLogger("s1gw.decide")


class Answerer(Protocol):
    """What can answer a call: the chain, alone or behind middleware."""

    async def answer(self, request: DecideRequest, started: float) -> Outcome:
        """Answer a call that began at ``started``, on ``perf_counter``'s clock."""
        ...


@attrs.define(eq=False, kw_only=True)
class Decider:
    """The decide contract.

    Attributes:
        chain: what answers a call: the chain, or the middleware around it.
        is_paused: whether deciding is switched off now.
        observers: who is told about every valid call.
    """

    chain: Answerer
    is_paused: Callable[[], bool]
    observers: Sequence[Observer] = ()

    async def decide(self, fields: object) -> dict[str, Any]:
        """Answer one request; whatever goes wrong is said in the reply.

        Args:
            fields: the request as the caller sent it.
        """
        started = perf_counter()
        request_id = request_id_of(fields)
        token = logs.request_id.set(logs.visible(request_id))
        try:
            return await self._decided(parse_request(fields, request_id), started)
        except InvalidRequest as error:
            _log.info("invalid request: %s", logs.visible(error.field or "not an object"))
            return _replied(_invalid(error), request_id, started)
        except asyncio.CancelledError:
            _log.info("cancelled after %.1f ms", 1000 * (perf_counter() - started))
            raise
        finally:
            logs.request_id.reset(token)

    async def _decided(self, request: DecideRequest, started: float) -> dict[str, Any]:
        outcome = Outcome(verdict=paused())
        if not self.is_paused():
            outcome = await self.chain.answer(request, started)
        for attempt in outcome.attempts:
            _note(attempt)
        finished = _replied(outcome, request.request_id, started)
        _log.log(
            logging.WARNING if outcome.verdict.error else logging.INFO,
            "%s by %s in %.1f ms",
            *(finished[k] for k in ("status", "provider", "latency_ms")),
            extra=_why(outcome.attempts),
        )
        seen, verdict = outcome.request or request, outcome.verdict
        record = DecisionRecord(
            request=seen, reply=finished, answer=verdict.answer, model=verdict.model
        )
        tell(self.observers, record)
        return finished


def refused(error: InvalidRequest, request_id: str) -> dict[str, Any]:
    """Return the reply to what never became a request, such as text that is no JSON."""
    return _replied(_invalid(error), request_id, perf_counter())


def _note(attempt: Attempt) -> None:
    """Log an attempt: a warning where the provider failed, with the cause."""
    if attempt.cause is None:
        _log.debug("%s: %s, %s", attempt.provider, attempt.outcome, attempt.detail)
        return
    _log.warning("%s: %s", attempt.provider, attempt.outcome, extra=_why((attempt,)))


def _why(attempts: Sequence[Attempt]) -> dict[str, Any]:
    """Return why the last of ``attempts`` failed, as fields of a line."""
    if not attempts or attempts[-1].cause is None:
        return {}
    last = attempts[-1]
    return logs.fields(cause=last.cause, upstream_status=last.upstream_status)


def _invalid(error: InvalidRequest) -> Outcome:
    return Outcome(verdict=Verdict(error=error))


def _replied(outcome: Outcome, request_id: str, started: float) -> dict[str, Any]:
    return reply(outcome, request_id=request_id, latency_ms=(perf_counter() - started) * 1000)
