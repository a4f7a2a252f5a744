"""Asking the next provider when one is slow: whose answer counts, and what that costs."""

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import Any

import pytest

from gateway_core import Capabilities, Format, YesNo
from gateway_core.config.model import DecideConfig
from gateway_core.decide import Cooldowns, Decider
from gateway_core.errors import KeyRejected, Overloaded, PluginUnavailable, ProviderUnreachable

pytestmark = pytest.mark.anyio
MakeDecider = Callable[..., Decider]
Script = Callable[..., Any]
ASK = {"question": "Urgent?"}
HEDGED = DecideConfig(hedge_after_s=0.05, timeout_s=20)
AT_ONCE = DecideConfig(hedge_after_s=0.000_1, timeout_s=20)
PATIENT = DecideConfig(hedge_after_s=15, timeout_s=20)
REFUSAL = {"answers": {"decision": {"type": "refusal"}}}


def noul(probability: float) -> dict[str, object]:
    return {"model": "m-1", "answers": {"decision": {"type": "noul", "noul": probability}}}


def outcomes(reply: dict[str, Any]) -> list[tuple[str, str]]:
    return [(attempt["provider"], attempt["outcome"]) for attempt in reply["attempts"]]


async def test_the_next_is_asked_when_the_first_is_slow_and_the_first_answer_counts(
    make_decider: MakeDecider, script: Script
) -> None:
    slow, quick = script([None]), script([noul(0.9)])
    reply = await make_decider(HEDGED, slow=slow, quick=quick).decide(ASK)
    assert (reply["status"], reply["provider"]) == ("decided", "quick")
    assert slow.cancelled
    assert outcomes(reply) == [("slow", "timeout"), ("quick", "ok")]
    assert "quick had answered first" in reply["attempts"][0]["detail"]
    assert reply["attempts"][0]["calls"] == 1
    (warning,) = reply["warnings"]
    assert warning.startswith("hedged after 0.05 s: slow was asked as well, and cancelled after ")


async def test_the_one_that_was_asked_first_may_still_win(
    make_decider: MakeDecider, script: Script
) -> None:
    second = script([None])
    late = script([second.started, noul(0.9)])
    reply = await make_decider(HEDGED, late=late, second=second).decide(ASK)
    assert reply["provider"] == "late"
    assert second.cancelled
    assert outcomes(reply) == [("late", "ok"), ("second", "timeout")]
    assert len(reply["warnings"]) == 1


async def test_nobody_else_is_asked_while_the_first_is_quick(
    make_decider: MakeDecider, script: Script
) -> None:
    first, second = script([noul(0.9)]), script([noul(0.9)])
    reply = await make_decider(PATIENT, first=first, second=second).decide(ASK)
    assert (outcomes(reply), reply["warnings"]) == ([("first", "ok")], [])
    assert second.asked == []


@pytest.mark.parametrize("answer", [REFUSAL, noul(0.55)], ids=["a refusal", "a low confidence"])
async def test_an_abstention_is_a_valid_answer_and_ends_the_chain(
    make_decider: MakeDecider, script: Script, answer: object
) -> None:
    slow, third = script([None]), script([noul(0.9)])
    decider = make_decider(HEDGED, slow=slow, hedge=script([answer]), third=third)
    reply = await decider.decide(ASK)
    assert (reply["status"], reply["provider"]) == ("abstained", "hedge")
    assert slow.cancelled
    assert third.asked == []


async def test_an_abstention_of_the_first_asks_nobody_else(
    make_decider: MakeDecider, script: Script
) -> None:
    second = script([noul(0.9)])
    reply = await make_decider(PATIENT, first=script([noul(0.55)]), second=second).decide(ASK)
    assert (reply["status"], second.asked) == ("abstained", [])


@pytest.mark.parametrize(
    "failure", [Overloaded("busy"), KeyRejected("no"), ProviderUnreachable("cut"), {"answers": {}}]
)
async def test_a_failure_of_the_first_leads_on_at_once_as_ever(
    make_decider: MakeDecider, script: Script, failure: object
) -> None:
    began = perf_counter()
    first, second = script([failure]), script([noul(0.9)])
    reply = await make_decider(PATIENT, first=first, second=second).decide(ASK)
    assert (reply["provider"], reply["warnings"]) == ("second", [])
    assert perf_counter() - began < 10


async def test_a_failure_of_the_hedge_leads_on_while_the_first_may_still_answer(
    make_decider: MakeDecider, script: Script
) -> None:
    slow, hedge, third = script([None]), script([{"answers": {}}]), script([noul(0.9)])
    reply = await make_decider(HEDGED, slow=slow, hedge=hedge, third=third).decide(ASK)
    assert outcomes(reply) == [("slow", "timeout"), ("hedge", "malformed"), ("third", "ok")]


async def test_two_are_asked_at_once_and_never_more(
    make_decider: MakeDecider, script: Script
) -> None:
    chain = {name: script([None]) for name in "abc"}
    call = asyncio.create_task(make_decider(AT_ONCE, **chain).decide(ASK))
    async with asyncio.timeout(10):
        await chain["b"].started.wait()
    done, _ = await asyncio.wait([call], timeout=0.1)
    assert not done
    assert chain["c"].asked == []
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert chain["a"].cancelled
    assert chain["b"].cancelled


async def test_the_error_of_a_hedged_chain_that_failed_is_that_of_its_last_attempt(
    make_decider: MakeDecider, script: Script
) -> None:
    settings = DecideConfig(hedge_after_s=0.01, timeout_s=0.1)
    chain = {"a": script([None]), "b": script([None]), "c": script([Overloaded("busy")])}
    reply = await make_decider(settings, **chain).decide(ASK)
    assert outcomes(reply) == [("a", "timeout"), ("b", "timeout"), ("c", "error")]
    assert reply["error"] == {"code": "provider_error", "message": "c: busy"}


async def test_the_deadline_bounds_a_hedged_call(make_decider: MakeDecider, script: Script) -> None:
    settings = DecideConfig(hedge_after_s=0.01, timeout_s=20, deadline_s=0.2)
    began = perf_counter()
    reply = await make_decider(settings, a=script([None]), b=script([None])).decide(ASK)
    assert outcomes(reply) == [("a", "timeout"), ("b", "timeout")]
    assert perf_counter() - began < 10


async def test_who_cannot_be_called_is_no_hedge_and_is_recorded(
    make_decider: MakeDecider, script: Script
) -> None:
    slow, broken = script([None]), PluginUnavailable("dialect 'acme' is not installed")
    reply = await make_decider(HEDGED, slow=slow, broken=broken, last=script([noul(1)])).decide(ASK)
    assert outcomes(reply) == [("slow", "timeout"), ("broken", "error"), ("last", "ok")]
    assert [attempt["calls"] for attempt in reply["attempts"]] == [1, 0, 1]


async def test_an_abstention_that_takes_no_call_waits_until_the_slow_one_has_failed(
    make_decider: MakeDecider, script: Script
) -> None:
    formats = frozenset({Format.SYSTEMONE})
    limits = Capabilities(formats=formats, keyless=True, yes_no=YesNo.UNSUPPORTED)
    topical, third = script([noul(1)], limits), script([noul(1)])
    slow = script([None])
    settings = DecideConfig(hedge_after_s=0.01, timeout_s=0.2)
    reply = await make_decider(settings, slow=slow, topical=topical, third=third).decide(ASK)
    assert outcomes(reply) == [("slow", "timeout"), ("topical", "abstained")]
    assert "no answer within" in reply["attempts"][0]["detail"]
    assert (topical.asked, third.asked) == ([], [])


async def test_one_that_cools_down_is_no_hedge_and_still_the_last_resort(
    make_decider: MakeDecider, script: Script
) -> None:
    settings = DecideConfig(hedge_after_s=0.01, timeout_s=0.1)
    first = script([noul(0.9)] * 3 + [None])
    cool = script([ProviderUnreachable("cut")] * 3 + [noul(0.8)])
    async with Cooldowns() as cooldowns:
        upside_down = make_decider(settings, cooldowns=cooldowns, cool=cool, first=first)
        for _ in range(3):
            await upside_down.decide(ASK)
        reply = await upside_down.decide(ASK)
    assert outcomes(reply) == [("first", "timeout"), ("cool", "ok")]
    assert len(cool.asked) == 4
    assert reply["warnings"] == []
