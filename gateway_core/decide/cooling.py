"""What one process remembers of its providers: calls that failed, and probes in the background."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from time import perf_counter
from types import TracebackType
from typing import Final, Self

import attrs

from gateway_core import logs
from gateway_core.causes import Cause
from gateway_core.decide.cooldown import Cooldown, Ended
from gateway_core.errors import (
    GatewayError,
    MalformedResponse,
    ProviderError,
    ProviderTimeout,
    ProviderUnreachable,
)
from gateway_core.provider import Provider

_log: Final = logging.getLogger("s1gw.decide")
PROBE_TIMEOUT_S: Final = 5.0


@attrs.define(eq=False)
class Call:
    """One provider's part in one question.

    Attributes:
        ended: what it says of the provider; a call that nobody finishes was given up.
        what: the failure in a word or two.
    """

    ended: Ended = Ended.GIVEN_UP
    what: str = ""

    def finish(self, error: GatewayError | None, *, asked: bool, fair: bool) -> None:
        """Note what came of it.

        Args:
            error: how it failed; None when the provider answered.
            asked: whether the provider was called at all.
            fair: whether it had about the time that it is meant to have.
        """
        self.ended = Ended.UNKNOWN
        if asked and _down(error):
            self.ended, self.what = (Ended.FAILED if fair else Ended.UNKNOWN), _words(error)
        elif asked and _up(error):
            self.ended = Ended.ANSWERED


def _down(error: GatewayError | None) -> bool:
    late_or_cut = isinstance(error, ProviderTimeout | ProviderUnreachable)
    return late_or_cut or (isinstance(error, ProviderError) and error.cause is Cause.DNS)


def _up(error: GatewayError | None) -> bool:
    # A failure without a status may be the gateway's own, such as max_concurrency.
    answered = isinstance(error, ProviderError) and error.status is not None
    return error is None or answered or isinstance(error, MalformedResponse)


def _words(error: GatewayError | None) -> str:
    cause = error.cause if isinstance(error, ProviderError) else None
    if isinstance(error, ProviderTimeout) or cause is None:
        return "timeout"
    return cause.value.replace("_", " ")


@attrs.define(eq=False)
class Cooldowns:
    """A cooldown for each provider that has failed, and the probes that are under way.

    Providers are told apart as objects, so that organizations with credentials of their own share
    nothing, and the gateways of one organization share what is known of its providers.

    Attributes:
        clock: the time in seconds; it only goes forward.
    """

    clock: Callable[[], float] = perf_counter
    _known: dict[Provider, Cooldown] = attrs.field(factory=dict, init=False)
    _probing: dict[Provider, asyncio.Task[None]] = attrs.field(factory=dict, init=False)

    def passes_over(self, provider: Provider) -> bool:
        """Whether a question is to go past ``provider`` now, if there is another."""
        known = self._known.get(provider)
        return known is not None and known.passes_over(self.clock())

    def words(self, provider: Provider) -> str | None:
        """Say that ``provider`` is not asked as usual, and why; None when it is."""
        known = self._known.get(provider)
        return None if known is None else known.words(self.clock())

    def spare(self, provider: Provider) -> str:
        """Note that a question goes past ``provider``, and return why."""
        known = self._of(provider)
        known.spare()
        self._probe_if_wanted(provider, known)
        return known.words(self.clock()) or "cooling down"

    @contextmanager
    def call(self, provider: Provider) -> Iterator[Call]:
        """Watch a call of ``provider``; whoever makes it says in ``Call`` how it ended."""
        known, call = self._of(provider), Call()
        before, trial = known.outage is None, known.began(self.clock())
        try:
            yield call
        finally:
            known.ended(call.ended, self.clock(), what=call.what, trial=trial)
            _tell(provider.name, known, before=before)
            self._probe_if_wanted(provider, known)

    async def __aenter__(self) -> Self:
        """Begin; nothing is probed before a call has failed."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop probing."""
        await self.aclose()

    async def aclose(self) -> None:
        """Stop probing."""
        tasks = tuple(self._probing.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _of(self, provider: Provider) -> Cooldown:
        return self._known.setdefault(provider, Cooldown())

    def _probe_if_wanted(self, provider: Provider, known: Cooldown) -> None:
        if not known.wants_probe or provider in self._probing:
            return
        # A context of its own: the question that was first met by the outage is soon over.
        loop = asyncio.get_running_loop()
        task = loop.create_task(self._probe(provider, known), context=Context())
        self._probing[provider] = task

    async def _probe(self, provider: Provider, known: Cooldown) -> None:
        try:
            while known.wants_probe:
                await asyncio.sleep(known.probe_in_s)
                found = await provider.probe(PROBE_TIMEOUT_S)
                before = known.outage is None
                known.probed(self.clock(), ok=found.ok)
                _tell(provider.name, known, before=before)
        finally:
            # Here and not in a callback, which would come after others had looked.
            self._probing.pop(provider, None)


def _tell(name: str, known: Cooldown, *, before: bool) -> None:
    """Log that ``name`` is passed over from now on, or asked as usual again."""
    if before == (known.outage is None):
        return
    if known.outage is None:
        _log.info("%s: answers again, and is asked as usual", name)
        return
    last = known.last.what if known.last else None
    _log.warning("%s: cooling down, others are asked first", name, extra=logs.fields(last=last))
