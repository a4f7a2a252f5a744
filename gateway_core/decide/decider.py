"""The whole of one call: check, look whether it is paused, ask the chain, reply, tell."""

import logging
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Final

import attrs

from gateway_core import logs
from gateway_core.decide.chain import Chain
from gateway_core.decide.observe import DecisionRecord, Observer, tell
from gateway_core.decide.reply import Attempt, reply
from gateway_core.decide.request import DecideRequest, parse_request, request_id_of
from gateway_core.decide.verdict import Verdict, paused
from gateway_core.errors import InvalidRequest

_log: Final = logging.getLogger("s1gw.decide")


@attrs.define(eq=False, kw_only=True)
class Decider:
    """The decide contract.

    Attributes:
        chain: who is asked.
        is_paused: whether deciding is switched off now.
        observers: who is told about every valid call.
    """

    chain: Chain
    is_paused: Callable[[], bool]
    observers: Sequence[Observer] = ()

    async def decide(self, fields: object) -> dict[str, Any]:
        """Answer one request; whatever goes wrong is said in the reply.

        Args:
            fields: the request as the caller sent it.
        """
        started = perf_counter()
        request_id = request_id_of(fields)
        token = logs.request_id.set(_one_line(request_id))
        try:
            return await self._settled(parse_request(fields, request_id), started)
        except InvalidRequest as error:
            _log.info("invalid request: %s", _one_line(error.field or "not an object"))
            return _replied(Verdict(error=error), [], request_id, started)
        finally:
            logs.request_id.reset(token)

    async def _settled(self, request: DecideRequest, started: float) -> dict[str, Any]:
        verdict, attempts = paused(), list[Attempt]()
        if not self.is_paused():
            verdict, attempts = await self.chain.settle(request, started)
        for attempt in attempts:
            _log.debug("%s: %s, %s", attempt.provider, attempt.outcome, attempt.detail)
        finished = _replied(verdict, attempts, request.request_id, started)
        _log.info(
            "%s by %s in %.1f ms", *(finished[k] for k in ("status", "provider", "latency_ms"))
        )
        record = DecisionRecord(request=request, reply=finished, answer=verdict.answer)
        tell(self.observers, record)
        return finished


def refused(error: InvalidRequest, request_id: str) -> dict[str, Any]:
    """Return the reply to what never became a request, such as text that is no JSON."""
    return _replied(Verdict(error=error), [], request_id, perf_counter())


def _replied(
    verdict: Verdict, attempts: Sequence[Attempt], request_id: str, started: float
) -> dict[str, Any]:
    took_ms = (perf_counter() - started) * 1000
    return reply(verdict, request_id=request_id, latency_ms=took_ms, attempts=attempts)


def _one_line(text: str) -> str:
    # A caller's text with a line break in it must not be able to forge a line of the log.
    return text if text.isprintable() else ascii(text)[1:-1]
