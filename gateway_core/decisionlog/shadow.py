"""Asking providers beside the chain, to judge a switch before it is made."""

import asyncio
import logging
from collections.abc import Mapping
from time import perf_counter
from typing import Final

import attrs

from gateway_core.decide.chain import Chain
from gateway_core.decide.observe import DecisionRecord
from gateway_core.decide.reply import reply
from gateway_core.decisionlog.entry import Role
from gateway_core.decisionlog.losses import Losses
from gateway_core.decisionlog.observer import entry_of
from gateway_core.decisionlog.writer import DecisionLog

_log: Final = logging.getLogger("s1gw.decisionlog")
_MOST_UNDER_WAY: Final = 32
_TOO_MANY: Final = f"{_MOST_UNDER_WAY} are under way, the most at a time"


@attrs.define(eq=False, kw_only=True)
class Shadow:
    """Asks other providers what the chain was asked, and logs what they say.

    It starts when the reply is already built and its failures are entries of the log, so it
    changes neither the reply nor how long it takes. When too much is under way, or a provider
    was in the chain's attempts anyway, the provider is not asked; when the chain asked nobody
    (deciding is paused, a middleware answered), neither is a shadow.

    Attributes:
        chains: a chain of one, by provider.
        log: where answers go.
        skipped: how often a provider was not asked because too much was under way.
    """

    chains: Mapping[str, Chain]
    log: DecisionLog
    skipped: Losses = attrs.field(factory=lambda: Losses("shadows were not asked"), init=False)
    _tasks: set[asyncio.Task[None]] = attrs.field(factory=set, init=False)

    def decided(self, record: DecisionRecord) -> None:
        """Start asking; returns at once."""
        tried = {attempt["provider"] for attempt in record.reply["attempts"]}
        if not tried:
            return
        for name in self.chains.keys() - tried:
            if len(self._tasks) >= _MOST_UNDER_WAY:
                self.skipped.add(1, _TOO_MANY)
                continue
            task = asyncio.create_task(self._ask(name, record))
            self._tasks.add(task)
            task.add_done_callback(self._done)

    async def _ask(self, name: str, record: DecisionRecord) -> None:
        started = perf_counter()
        outcome = await self.chains[name].answer(record.request, started)
        told = reply(
            outcome,
            request_id=record.request.request_id,
            latency_ms=(perf_counter() - started) * 1000,
        )
        verdict = outcome.verdict
        seen = DecisionRecord(
            request=record.request, reply=told, answer=verdict.answer, model=verdict.model
        )
        self.log.add(entry_of(seen, Role.SHADOW))

    async def aclose(self) -> None:
        """Wait for the shadows under way; each is bounded by its own timeout."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.skipped.tell(_TOO_MANY)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not self._tasks:
            self.skipped.tell(_TOO_MANY)
        # Nobody awaits a shadow: what it raised would be lost without a word.
        if not task.cancelled() and (error := task.exception()):
            _log.error("a shadow failed: %s", type(error).__name__)
