"""The chain: providers asked in order until one of them answers the question."""

from collections.abc import Sequence
from time import perf_counter

import attrs

from gateway_core.config.model import DecideConfig
from gateway_core.decide.consult import AskStrategy, consult
from gateway_core.decide.reply import Attempt, Outcome, attempt_of
from gateway_core.decide.request import DecideRequest
from gateway_core.decide.session import ProviderSession
from gateway_core.decide.verdict import Verdict, VerdictRules, unsupported
from gateway_core.errors import ConfigError, ProviderError, RequestTooLarge
from gateway_core.provider import Provider
from gateway_core.types import YesNo
from gateway_core.wire import QuestionType, why_not_askable


@attrs.frozen(kw_only=True)
class Link:
    """One place in the chain.

    Attributes:
        name: the provider's name.
        provider: the provider, or the fault that keeps it from being asked.
    """

    name: str
    provider: Provider | ConfigError


@attrs.define(eq=False, kw_only=True)
class Chain:
    """Providers in the order in which they are asked.

    Attributes:
        links: who is asked, in order.
        settings: the timeouts.
        rules: calibration and thresholds.
        error_when_empty: the error of a chain that has no link.
    """

    links: Sequence[Link]
    settings: DecideConfig
    rules: VerdictRules
    error_when_empty: ConfigError

    async def answer(self, request: DecideRequest, started: float) -> Outcome:
        """Ask one provider after the other until one decides or abstains.

        Only a timeout, an error or a malformed answer leads on to the next. Nothing is tried
        twice, and no attempt starts after the deadline.

        Args:
            request: what is asked.
            started: when the call began, on ``perf_counter``'s clock.

        Returns:
            The verdict, which holds the last attempt's error if no provider answered the question,
            and every attempt.
        """
        attempts: list[Attempt] = []
        verdict = Verdict(error=self.error_when_empty)
        for link in self.links:
            begun = perf_counter()
            left = self.settings.deadline_s - (begun - started)
            if left <= 0:
                break
            verdict = await self._consult(link, request, left)
            took_ms = (perf_counter() - begun) * 1000
            attempts.append(attempt_of(link.name, verdict, took_ms))
            if verdict.error is None:
                break
        return Outcome(verdict=verdict, attempts=tuple(attempts))

    async def _consult(self, link: Link, request: DecideRequest, left: float) -> Verdict:
        if isinstance(link.provider, ConfigError):
            return Verdict(error=link.provider)
        own = link.provider.endpoint.timeout_s
        session = ProviderSession(
            provider=link.provider,
            request_id=request.request_id,
            timeout_s=self.settings.timeout_s if own is None else own,
            until=perf_counter() + left,
        )
        try:
            return await self._verdict(session, request)
        except (ConfigError, ProviderError) as error:
            return Verdict(error=error, calls=session.calls)

    async def _verdict(self, session: ProviderSession, request: DecideRequest) -> Verdict:
        provider, question = session.provider, request.question
        capabilities = provider.capabilities
        how = AskStrategy.of(request, provider.name, self.settings)
        if obstacle := why_not_askable(
            how.smallest(question, capabilities.max_options), capabilities
        ):
            raise RequestTooLarge(f"not asked: {obstacle}")
        if question.type is QuestionType.YES_NO and capabilities.yes_no is YesNo.UNSUPPORTED:
            return unsupported(provider)
        answer = await consult(session, question, how)
        return self.rules.verdict(answer, session, request)
