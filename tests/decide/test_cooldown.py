"""When a provider is left alone and when it is asked again: every order of events, no clock."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gateway_core.decide.cooldown import (
    FAILURES,
    FIRST_PAUSE_S,
    IDLE_PROBE_S,
    LONGEST_PAUSE_S,
    LONGEST_PROBE_S,
    SPARED,
    UNANSWERED,
    Cooldown,
    Ended,
    Outage,
)

FAILED_OR_NOT = st.sampled_from([how for how in Ended if how is not Ended.ANSWERED])


def failed(times: int, at: float = 0.0) -> Cooldown:
    """Return what is known of a provider after so many failures in a row."""
    known = Cooldown()
    for _ in range(times):
        known.ended(Ended.FAILED, at, what="timeout", trial=known.began(at))
    return known


def spared(known: Cooldown, times: int = SPARED) -> None:
    for _ in range(times):
        known.spare()


def test_a_few_failures_in_a_row_begin_a_pause_and_fewer_do_not() -> None:
    assert not failed(FAILURES - 1).passes_over(0)
    known = failed(FAILURES)
    assert known.passes_over(0)
    assert known.words(4.2) == "cooling down, last failure: timeout 4 s ago"


def test_an_answer_between_failures_begins_the_count_anew() -> None:
    known = failed(FAILURES - 1)
    known.ended(Ended.ANSWERED, 0)
    known.ended(Ended.FAILED, 0, what="timeout")
    assert not known.passes_over(0)
    assert known.words(0) is None


def test_what_says_nothing_of_the_provider_changes_nothing() -> None:
    known = failed(FAILURES - 1)
    known.ended(Ended.UNKNOWN, 0)
    assert not known.passes_over(0)
    known.ended(Ended.FAILED, 0, what="timeout")
    assert known.passes_over(0)


def test_a_pause_is_over_when_its_time_is_and_it_has_spared_a_few_questions() -> None:
    known = failed(FAILURES)
    assert known.passes_over(FIRST_PAUSE_S)
    spared(known)
    assert known.passes_over(FIRST_PAUSE_S - 0.01)
    assert not known.passes_over(FIRST_PAUSE_S)


def test_one_trial_at_a_time_goes_through() -> None:
    known = failed(FAILURES)
    spared(known)
    trial = known.began(FIRST_PAUSE_S)
    assert trial is not None
    assert known.passes_over(FIRST_PAUSE_S)
    assert known.began(FIRST_PAUSE_S) is None
    known.ended(Ended.UNKNOWN, FIRST_PAUSE_S, trial=trial)
    assert not known.passes_over(FIRST_PAUSE_S)


def test_pauses_grow_to_a_bound_and_an_answer_makes_them_short_again() -> None:
    known, now, pauses = failed(FAILURES), 0.0, []
    for _ in range(2_000):
        spared(known)
        begun = now
        while known.passes_over(now):
            now += 2.5
        pauses.append(now - begun)
        known.ended(Ended.FAILED, now, what="timeout", trial=known.began(now))
    assert pauses[:6] == [5, 10, 20, 40, 60, 60]
    assert max(pauses) == LONGEST_PAUSE_S
    known.ended(Ended.ANSWERED, now)
    for _ in range(FAILURES):
        known.ended(Ended.FAILED, now, what="timeout")
    spared(known)
    assert not known.passes_over(now + FIRST_PAUSE_S)


def test_a_probe_that_succeeds_ends_the_pause_before_its_time() -> None:
    known = failed(FAILURES)
    known.probed(1, ok=False)
    assert known.passes_over(1)
    known.probed(2, ok=True)
    assert not known.passes_over(2)
    assert not known.wants_probe


def test_a_probe_that_goes_on_succeeding_while_trials_fail_is_no_news() -> None:
    known = failed(FAILURES)
    known.probed(1, ok=True)
    known.ended(Ended.FAILED, 2, what="timeout", trial=known.began(2))
    known.probed(3, ok=True)
    assert known.passes_over(3)
    known.probed(4, ok=False)
    known.probed(5, ok=True)
    assert not known.passes_over(5)


def test_failures_of_calls_that_are_no_trial_make_a_pause_no_longer() -> None:
    known = failed(FAILURES)
    for _ in range(100):
        known.ended(Ended.FAILED, 1, what="timeout")
    spared(known)
    assert not known.passes_over(FIRST_PAUSE_S)


def test_calls_that_were_given_up_lead_to_a_probe_and_the_probe_decides() -> None:
    known = Cooldown()
    for _ in range(UNANSWERED):
        assert not known.wants_probe
        known.ended(Ended.GIVEN_UP, 0)
    assert known.wants_probe
    known.probed(1, ok=True)
    assert (known.wants_probe, known.passes_over(1)) == (False, False)
    for _ in range(UNANSWERED):
        known.ended(Ended.GIVEN_UP, 2)
    known.probed(3, ok=False)
    assert known.passes_over(3)


def test_probes_are_rarer_while_nobody_asks() -> None:
    known = failed(FAILURES)
    for number in range(20):
        known.spare()
        known.probed(number, ok=False)
        assert known.probe_in_s <= LONGEST_PROBE_S
    for number in range(20):
        known.probed(100 + number, ok=False)
    assert known.probe_in_s == IDLE_PROBE_S


class EveryOrder(RuleBasedStateMachine):
    """Calls that overlap, probes and time in any order, against what must always hold."""

    @initialize()
    def _begin(self) -> None:
        self.known, self.now = Cooldown(), 0.0
        self.calls: list[Outage | None] = []
        self.in_a_row = self.given_up = 0

    @rule(seconds=st.floats(0, 200))
    def _wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(forced=st.booleans())
    def _question(self, *, forced: bool) -> None:
        if self.known.passes_over(self.now) and not forced:
            self.known.spare()
        else:
            self.calls.append(self.known.began(self.now))

    @precondition(lambda self: self.calls)
    @rule(how=FAILED_OR_NOT, which=st.integers(0, 99))
    def _end(self, how: Ended, which: int) -> None:
        trial = self.calls.pop(which % len(self.calls))
        self.known.ended(how, self.now, what="timeout", trial=trial)
        self.in_a_row += how is Ended.FAILED
        self.given_up += how is Ended.GIVEN_UP

    @precondition(lambda self: self.calls)
    @rule(which=st.integers(0, 99))
    def _answer(self, which: int) -> None:
        trial = self.calls.pop(which % len(self.calls))
        self.known.ended(Ended.ANSWERED, self.now, trial=trial)
        self.in_a_row = self.given_up = 0
        assert not self.known.passes_over(self.now)
        assert self.known.words(self.now) is None

    @precondition(lambda self: self.known.wants_probe)
    @rule(ok=st.booleans())
    def _probe(self, *, ok: bool) -> None:
        self.known.probed(self.now, ok=ok)

    @invariant()
    def _only_evidence_passes_a_provider_over(self) -> None:
        if self.in_a_row < FAILURES and self.given_up < UNANSWERED:
            assert not self.known.passes_over(self.now)

    @invariant()
    def _every_pause_ends(self) -> None:
        outage = self.known.outage
        if outage is not None and not outage.on_trial and outage.spared >= SPARED:
            assert not self.known.passes_over(self.now + LONGEST_PAUSE_S)

    @invariant()
    def _a_pause_is_said_in_words_and_probed(self) -> None:
        if self.known.passes_over(self.now):
            words = self.known.words(self.now)
            assert words is not None
            assert words.startswith("cooling down, last failure: ")
            assert self.known.wants_probe or self.known.outage is not None
        assert 0 < self.known.probe_in_s <= IDLE_PROBE_S

    @invariant()
    def _one_trial_at_a_time(self) -> None:
        outage = self.known.outage
        trials = [trial for trial in self.calls if trial is not None and trial is outage]
        assert len(trials) == (outage is not None and outage.on_trial)


TestEveryOrder = EveryOrder.TestCase
