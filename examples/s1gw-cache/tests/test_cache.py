"""The cache by itself, with a clock that the test moves."""

import asyncio
from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from gateway_core import DecideRequest, MiddlewareContext, Outcome, Reason, Verdict
from gateway_core.errors import ProviderTimeout
from gateway_core.wire import Question

from s1gw_cache import CacheMiddleware, CacheSettings

DECIDED = Verdict(decision="yes", confidence=0.9, provider="acme", warnings=("slow today",))
ABSTAINED = Verdict(reason=Reason.BELOW_THRESHOLD, provider="acme")
FAILED = Verdict(error=ProviderTimeout("no answer"))
ASK = DecideRequest(question=Question(text="Urgent?", context={"a": 1, "b": 2}), request_id="r-1")


@attrs.define
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@attrs.define
class Chain:
    """Answers in order, and counts how often it was asked."""

    answers: Sequence[Verdict]
    asked: int = 0

    async def __call__(self, request: DecideRequest) -> Outcome:
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        return Outcome(verdict=answer)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def asked(cache: CacheMiddleware, chain: Chain, request: DecideRequest = ASK) -> Outcome:
    return asyncio.run(cache.decide(request, chain))


def make(clock: Clock, **settings: Any) -> CacheMiddleware:
    context = MiddlewareContext(name="cache", settings=CacheSettings(**settings))
    return CacheMiddleware(context, clock)


@pytest.mark.parametrize("answer", [DECIDED, ABSTAINED])
def test_what_was_answered_is_answered_again(clock: Clock, answer: Verdict) -> None:
    cache, chain = make(clock), Chain([answer])
    asked(cache, chain)
    clock.now = 7
    again = asked(cache, chain, attrs.evolve(ASK, request_id="r-2"))

    assert chain.asked == 1
    assert attrs.evolve(again.verdict, warnings=answer.warnings) == answer
    told = "answered from the cache: it was decided 7 s ago"
    assert again.verdict.warnings == (*answer.warnings, told)
    assert again.attempts == ()


def test_an_error_is_asked_again(clock: Clock) -> None:
    cache, chain = make(clock), Chain([FAILED, DECIDED])

    assert asked(cache, chain).verdict == FAILED
    assert asked(cache, chain).verdict == DECIDED


@pytest.mark.parametrize(("later", "times"), [(59, 1), (61, 2)])
def test_an_answer_is_fresh_for_as_long_as_configured(
    clock: Clock, later: float, times: int
) -> None:
    cache, chain = make(clock, ttl_s=60), Chain([DECIDED])
    asked(cache, chain)
    clock.now = later
    asked(cache, chain)

    assert chain.asked == times


def test_the_answer_that_was_used_longest_ago_goes_first(clock: Clock) -> None:
    cache, chain = make(clock, max_entries=2), Chain([DECIDED])
    one, two, three = (
        attrs.evolve(ASK, question=Question(text=text)) for text in ("1?", "2?", "3?")
    )
    for request in (one, two, one, three):
        asked(cache, chain, request)
    assert chain.asked == 3
    asked(cache, chain, one)
    assert chain.asked == 3
    asked(cache, chain, two)
    assert chain.asked == 4


@pytest.mark.parametrize(
    "other",
    [
        {"question": Question(text="urgent?", context={"a": 1, "b": 2})},
        {"question": Question(text="Urgent?", context={"b": 2, "a": 1})},
        {"question": Question(text="Urgent?", context={"a": 1.0, "b": 2})},
        {"question": Question(text="Urgent?", context={"a": True, "b": 2})},
        {"question": Question(text="Urgent?")},
        {"question": Question(text="Urgent?", options=("yes", "no"), context={"a": 1, "b": 2})},
        {"min_confidence": 0.5},
        {"order_check": True},
        {"tournament": False},
        {"opposite": "Can it wait?"},
    ],
)
def test_another_request_is_asked(clock: Clock, other: dict[str, Any]) -> None:
    cache, chain = make(clock), Chain([DECIDED])
    asked(cache, chain)
    asked(cache, chain, attrs.evolve(ASK, **other))

    assert chain.asked == 2


def test_the_order_of_options_counts(clock: Clock) -> None:
    cache, chain = make(clock), Chain([DECIDED])
    for options in (("a", "b"), ("b", "a")):
        question = Question(text="Which?", options=options)
        asked(cache, chain, attrs.evolve(ASK, question=question))

    assert chain.asked == 2
