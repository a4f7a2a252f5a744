"""The chain: providers asked in order until one of them answers the question."""

from collections.abc import Sequence

import attrs

from gateway_core.config.model import DecideConfig
from gateway_core.decide.cooling import Cooldowns
from gateway_core.decide.hedge import Race
from gateway_core.decide.link import Link
from gateway_core.decide.reply import Outcome
from gateway_core.decide.request import DecideRequest
from gateway_core.decide.run import Run
from gateway_core.decide.verdict import Verdict, VerdictRules
from gateway_core.errors import ConfigError


@attrs.define(eq=False, kw_only=True)
class Chain:
    """Providers in the order in which they are asked.

    Attributes:
        links: who is asked, in order.
        settings: the timeouts.
        rules: calibration and thresholds.
        error_when_empty: the error of a chain that has no link.
        cooldowns: what is known of providers that are down; None when nothing is remembered.
    """

    links: Sequence[Link]
    settings: DecideConfig
    rules: VerdictRules
    error_when_empty: ConfigError
    cooldowns: Cooldowns | None = None

    async def answer(self, request: DecideRequest, started: float) -> Outcome:
        """Ask one provider after the other until one decides or abstains.

        Only a timeout, an error or a malformed answer leads on to the next, and slowness if
        ``settings.hedge_after_s`` says so. Nothing is tried twice, and no attempt starts after
        the deadline.

        Args:
            request: what is asked.
            started: when the call began, on ``perf_counter``'s clock.

        Returns:
            The verdict, which holds the last attempt's error if no provider answered the question,
            and every attempt.
        """
        run = Run(
            links=self.links,
            request=request,
            settings=self.settings,
            rules=self.rules,
            cooldowns=self.cooldowns,
            until=started + self.settings.deadline_s,
        )
        after_s = self.settings.hedge_after_s
        if after_s is None or len(self.links) == 1:
            verdict = await _in_order(run)
        else:
            verdict = await Race(run=run, after_s=after_s).verdict()
        return Outcome(
            verdict=verdict or Verdict(error=self.error_when_empty), attempts=run.attempts
        )


async def _in_order(run: Run) -> Verdict | None:
    while link := run.next_link():
        verdict = await run.ask(run.begin(link))
        if verdict.error is None:
            return verdict
    return run.last_verdict
