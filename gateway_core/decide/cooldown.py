"""When a provider that is down is left alone, and when it is asked again.

One state per provider. Nothing here waits, calls or looks at a clock: whoever uses it says what
time it is, in seconds on any clock that only goes forward.
"""

from enum import StrEnum
from typing import Final

import attrs

FAILURES: Final = 3
"""So many timeouts or failed connections in a row begin a pause."""
UNANSWERED: Final = 3
"""So many calls in a row that were given up before an answer are a reason to probe."""
SPARED: Final = 3
"""So many questions a pause has to spare before a trial call may cost one of them a timeout."""
FIRST_PAUSE_S: Final = 5.0
LONGEST_PAUSE_S: Final = 60.0
FIRST_PROBE_S: Final = 1.0
LONGEST_PROBE_S: Final = 5.0
IDLE_PROBE_S: Final = 60.0
"""The longest time between two probes while nobody asks."""


class Ended(StrEnum):
    """What a call that ended says of its provider."""

    ANSWERED = "answered"
    """It is up, whatever it said."""
    FAILED = "failed"
    """It was too late, or could not be reached."""
    GIVEN_UP = "given up"
    """The caller left, or another provider was quicker, before it had answered."""
    UNKNOWN = "unknown"
    """Nothing: no call was made, or it had no fair share of the time."""


@attrs.frozen
class Failure:
    """The last failure of a provider.

    Attributes:
        what: in a word or two.
        at: when it was.
    """

    what: str
    at: float


@attrs.define(eq=False)
class Outage:
    """The time since a provider's first pause, until it answers again.

    Attributes:
        until: when the pause is over.
        pauses: how many pauses there have been.
        spared: how many questions went past it in this pause.
        on_trial: whether a trial call is under way.
        probe_ok: whether the last probe succeeded.
        back: whether a probe says that it is up again.
        gap_s: the time until the next probe, in seconds.
        sought: whether a question would have gone to it since the last probe.
    """

    until: float = 0.0
    pauses: int = 0
    spared: int = 0
    on_trial: bool = False
    probe_ok: bool = False
    back: bool = False
    gap_s: float = FIRST_PROBE_S
    sought: bool = True

    def pause(self, now: float) -> None:
        """Begin a pause, twice as long as the last one."""
        self.until = now + min(FIRST_PAUSE_S * 2.0**self.pauses, LONGEST_PAUSE_S)
        # No more than the longest pause needs: an outage may last for weeks.
        self.pauses = min(self.pauses + 1, 16)
        self.spared, self.back, self.gap_s = 0, False, FIRST_PROBE_S

    def passes_over(self, now: float) -> bool:
        """Whether a question is to go past the provider."""
        waited = now >= self.until and self.spared >= SPARED
        return self.on_trial or not (self.back or waited)

    def probed(self, *, ok: bool) -> None:
        """Note what a probe found; see ``Cooldown`` for what is news."""
        self.back = ok and (self.back or not self.probe_ok)
        self.probe_ok = ok
        longest = LONGEST_PROBE_S if self.sought else IDLE_PROBE_S
        self.gap_s, self.sought = min(2 * self.gap_s, longest), False


@attrs.define(eq=False)
class Cooldown:
    """What is remembered of one provider.

    It is *asked as usual* until ``FAILURES`` failures in a row begin a *pause*. A pause ends when
    a probe succeeds that did not succeed before, or when its time is over and it has spared
    ``SPARED`` questions. Then one call goes through as a *trial*, and whatever else comes
    meanwhile still passes the provider over. If any call is answered, it is asked as usual again;
    if the trial fails, the next pause is twice as long, up to ``LONGEST_PAUSE_S``.

    A probe that goes on succeeding while calls fail is no news, and ends no second pause: some
    servers list their models while the engine behind them is stuck.

    Attributes:
        failures: how many calls have failed since the last one that was answered.
        given_up: how many calls in a row were given up before they ended.
        last: the last failure.
        outage: what is remembered while it is not asked as usual.
    """

    failures: int = 0
    given_up: int = 0
    last: Failure | None = None
    outage: Outage | None = None

    @property
    def wants_probe(self) -> bool:
        """Whether a probe could tell something new."""
        paused = self.outage is not None and not self.outage.back
        return paused or self._suspected

    @property
    def probe_in_s(self) -> float:
        """How long to wait before the next probe, in seconds."""
        return self.outage.gap_s if self.outage else FIRST_PROBE_S

    def passes_over(self, now: float) -> bool:
        """Whether a question is to go past it, to the next."""
        return self.outage is not None and self.outage.passes_over(now)

    def words(self, now: float) -> str | None:
        """Say that it is not asked as usual: "cooling down, last failure: timeout 4 s ago"."""
        if self.outage is None or self.last is None:
            return None
        ago = max(0.0, now - self.last.at)
        return f"cooling down, last failure: {self.last.what} {ago:.0f} s ago"

    def spare(self) -> None:
        """Note that a question went past it."""
        if self.outage:
            self.outage.spared += 1
            self.outage.sought = True

    def began(self, now: float) -> Outage | None:
        """Note that a call begins; return the outage that it is the trial of, if it is one."""
        if self.outage is None or self.passes_over(now):
            return None
        self.outage.on_trial = True
        return self.outage

    def ended(self, how: Ended, now: float, *, what: str = "", trial: Outage | None = None) -> None:
        """Note how a call ended.

        Args:
            how: what it says of the provider.
            now: the time.
            what: the failure in a word or two, if it failed.
            trial: what ``began`` returned.
        """
        # The trial of an outage that has ended meanwhile says nothing of the next one.
        is_trial = trial is not None and trial is self.outage
        if trial is not None:
            trial.on_trial = False
        if how is Ended.ANSWERED:
            self.failures, self.given_up, self.last, self.outage = 0, 0, None, None
        elif how is Ended.GIVEN_UP:
            self.given_up += 1
        elif how is Ended.FAILED:
            self._failed(Failure(what, now), trial=is_trial)

    def probed(self, now: float, *, ok: bool) -> None:
        """Note what a probe found."""
        suspected, self.given_up = self._suspected, 0 if self._suspected else self.given_up
        if suspected and not ok and not self.passes_over(now):
            self.last = Failure("no success with a probe", now)
            self._pause(now)
        if self.outage:
            self.outage.probed(ok=ok)

    @property
    def _suspected(self) -> bool:
        return self.given_up >= UNANSWERED

    def _failed(self, failure: Failure, *, trial: bool) -> None:
        self.last, self.given_up = failure, 0
        self.failures += 1
        # A call that began before the pause, or that had nobody else to go to, makes none longer.
        if trial if self.outage else self.failures >= FAILURES:
            self._pause(failure.at)

    def _pause(self, now: float) -> None:
        self.outage = self.outage or Outage()
        self.outage.pause(now)
