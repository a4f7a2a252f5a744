"""One question on its way through the chain: whom to ask next, and what came of each."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter

import attrs

from gateway_core.config.model import DecideConfig
from gateway_core.decide.consult import AskStrategy, consult
from gateway_core.decide.cooling import Call, Cooldowns
from gateway_core.decide.link import Link
from gateway_core.decide.reply import Attempt, attempt_of
from gateway_core.decide.request import DecideRequest
from gateway_core.decide.session import ProviderSession
from gateway_core.decide.verdict import Verdict, VerdictRules, unsupported
from gateway_core.errors import ConfigError, ProviderError, RequestTooLarge
from gateway_core.provider import Provider
from gateway_core.types import YesNo
from gateway_core.wire import QuestionType, why_not_askable


@attrs.define(eq=False, kw_only=True)
class Try:
    """One provider that is asked, or was passed over.

    Attributes:
        link: the provider's place.
        begun: when, on ``perf_counter``'s clock.
        passed_over: whether it was not asked because it cools down.
        verdict: what came of it; None while it is under way.
        session: its calls; None while there are none.
        took_s: how long it took, in seconds.
    """

    link: Link
    begun: float = attrs.field(factory=perf_counter)
    passed_over: bool = False
    verdict: Verdict | None = None
    session: ProviderSession | None = None
    took_s: float = 0.0

    def end(self, verdict: Verdict) -> Verdict:
        """Note what came of it, and return it."""
        self.verdict, self.took_s = verdict, perf_counter() - self.begun
        return verdict


@attrs.define(eq=False, kw_only=True)
class Run:
    """One question on its way through the chain.

    Attributes:
        links: who may be asked, in order.
        request: what is asked.
        settings: the timeouts.
        rules: calibration and thresholds.
        cooldowns: what is known of providers that are down; None when nothing is remembered.
        until: when the whole call must be done, on ``perf_counter``'s clock.
        tries: everyone who was asked or passed over, in order.
    """

    links: Sequence[Link]
    request: DecideRequest
    settings: DecideConfig
    rules: VerdictRules
    cooldowns: Cooldowns | None
    until: float
    tries: list[Try] = attrs.field(factory=list, init=False)
    _next: int = attrs.field(default=0, init=False)
    _risked: bool = attrs.field(default=False, init=False)

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every try that has ended, as the reply tells of it."""
        return tuple(
            attempt_of(one.link.name, one.verdict, one.took_s * 1000)
            for one in self.tries
            if one.verdict is not None
        )

    @property
    def last_verdict(self) -> Verdict | None:
        """What came of the last one; None if there is none."""
        return self.tries[-1].verdict if self.tries else None

    def next_link(self, *, at_any_cost: bool = True) -> Link | None:
        """Return who is to be asked next; None when nobody is left, or no time.

        Whoever cools down is passed over. When everyone else has failed, the last of those is
        asked all the same: an answer that comes late is better than none.

        Args:
            at_any_cost: whether one that cools down may be returned if nobody else is left.
        """
        if self.until <= perf_counter():
            return None
        while self._next < len(self.links):
            link = self.links[self._next]
            self._next += 1
            if not self._passed_over(link):
                return link
        return self._last_resort() if at_any_cost else None

    def without_a_call(self, link: Link) -> Verdict | None:
        """Return what comes of a provider that need not be called for it; None if it must be."""
        provider, question = link.provider, self.request.question
        if isinstance(provider, ConfigError):
            return Verdict(error=provider)
        if obstacle := provider.obstacle:
            return Verdict(error=obstacle)
        capabilities = provider.capabilities
        for asked in self._how(provider).asked(question, capabilities.max_options):
            if why := why_not_askable(asked, capabilities):
                return Verdict(error=RequestTooLarge(f"not asked: {why}"))
        if question.type is QuestionType.YES_NO and capabilities.yes_no is YesNo.UNSUPPORTED:
            return unsupported(provider)
        return None

    def begin(self, link: Link) -> Try:
        """Note that ``link`` is tried from now on."""
        self.tries.append(Try(link=link))
        return self.tries[-1]

    async def ask(self, one: Try) -> Verdict:
        """Ask one provider that has been begun with, and note what came of it."""
        provider = one.link.provider
        if (known := self.without_a_call(one.link)) or isinstance(provider, ConfigError):
            return one.end(known or Verdict())
        session = one.session = self._session(provider)
        with self._watched(provider) as call:
            try:
                verdict = await self._verdict(session)
            except (ConfigError, ProviderError) as error:
                verdict = Verdict(error=error, calls=session.calls)
            call.finish(verdict.error, asked=session.calls > 0, fair=self._was_fair(session))
        return one.end(verdict)

    async def _verdict(self, session: ProviderSession) -> Verdict:
        answer = await consult(session, self.request.question, self._how(session.provider))
        return self.rules.verdict(answer, session, self.request)

    def _session(self, provider: Provider) -> ProviderSession:
        own = provider.endpoint.timeout_s
        return ProviderSession(
            provider=provider,
            request_id=self.request.request_id,
            timeout_s=self.settings.timeout_s if own is None else own,
            until=self.until,
        )

    def _how(self, provider: Provider) -> AskStrategy:
        return AskStrategy.of(self.request, provider.name, self.settings)

    def _watched(self, provider: Provider) -> AbstractContextManager[Call]:
        return self.cooldowns.call(provider) if self.cooldowns else nullcontext(Call())

    def _was_fair(self, session: ProviderSession) -> bool:
        """Whether the last call had at least half of the time that a first one has."""
        # What the deadline cut to a moment says nothing of the provider.
        return session.limit_s >= min(session.timeout_s, self.settings.deadline_s) / 2

    def _passed_over(self, link: Link) -> bool:
        provider = link.provider
        if self.cooldowns is None or isinstance(provider, ConfigError):
            return False
        if not self.cooldowns.passes_over(provider):
            return False
        why = ProviderError(self.cooldowns.spare(provider))
        self.tries.append(Try(link=link, passed_over=True, verdict=Verdict(error=why)))
        return True

    def _last_resort(self) -> Link | None:
        over = [one for one in self.tries if one.passed_over]
        if self._risked or not over:
            return None
        self._risked = True
        # The record says of each provider once what became of it.
        self.tries.remove(over[-1])
        return over[-1].link
