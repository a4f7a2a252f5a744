"""A decision that was made is given again while it is fresh, without asking anybody."""

import hashlib
import json
from collections.abc import Callable
from time import monotonic

import attrs
from cachetools import TTLCache
from gateway_core import DecideRequest, MiddlewareContext, Outcome, Proceed


@attrs.frozen(kw_only=True)
class CacheSettings:
    """The settings of the cache.

    Attributes:
        ttl_s: how long an answer is given again, in seconds.
        max_entries: how many answers are kept; the one that was used longest ago goes first.
    """

    ttl_s: float = attrs.field(default=300.0, validator=attrs.validators.gt(0.0))
    max_entries: int = attrs.field(default=1024, validator=attrs.validators.gt(0))


class CacheMiddleware:
    """Keeps decisions and abstentions in memory; errors are asked again."""

    settings_class = CacheSettings

    def __init__(
        self,
        context: MiddlewareContext[CacheSettings],
        timer: Callable[[], float] = monotonic,
    ) -> None:
        """Start with an empty cache.

        Args:
            context: the name and the settings.
            timer: the clock, in seconds.
        """
        settings = context.settings
        self._timer = timer
        self._kept: TTLCache[bytes, tuple[float, Outcome]] = TTLCache(
            settings.max_entries, settings.ttl_s, timer
        )

    async def decide(self, request: DecideRequest, proceed: Proceed) -> Outcome:
        """Answer from the cache, or let the call proceed and keep what came of it."""
        key = cache_key(request)
        if kept := self._kept.get(key):
            return _again(*kept, now=self._timer())
        outcome = await proceed(request)
        if outcome.verdict.error is None:
            self._kept[key] = (self._timer(), outcome)
        return outcome


def cache_key(request: DecideRequest) -> bytes:
    """Return a digest of all of a request that can change its answer.

    The order of options and of a context's keys counts, because models heed it; the request id
    does not.
    """
    question = request.question
    asked = (
        question.text,
        question.options,
        question.context,
        request.min_confidence,
        request.order_check,
        request.tournament,
        request.opposite,
    )
    return hashlib.sha256(json.dumps(asked).encode()).digest()


def _again(since: float, outcome: Outcome, *, now: float) -> Outcome:
    """Return a kept answer as one that nobody was asked for, and say so."""
    told = f"answered from the cache: it was decided {now - since:.0f} s ago"
    verdict = attrs.evolve(outcome.verdict, warnings=(*outcome.verdict.warnings, told))
    return Outcome(verdict=verdict)
