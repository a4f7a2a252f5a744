"""Who is asked, in which order, for how long, and what leads on to the next."""

import asyncio
import json
from collections.abc import Callable
from time import perf_counter
from typing import Any

import pytest

from gateway_core import Capabilities, Format, YesNo
from gateway_core.config.model import DecideConfig
from gateway_core.decide import Decider
from gateway_core.errors import (
    ConfigError,
    KeyRejected,
    MalformedResponse,
    Overloaded,
    PluginUnavailable,
    ProviderError,
    ProviderTimeout,
    ProviderUnreachable,
    RateLimited,
    UpstreamRejected,
)
from gateway_core.provider import Provider

pytestmark = pytest.mark.anyio
MakeDecider = Callable[..., Decider]
Script = Callable[..., Any]
ASK = {"question": "Urgent?"}
SYSTEM_ONE = frozenset({Format.SYSTEMONE})


def noul(probability: float) -> dict[str, object]:
    return {"model": "m-1", "answers": {"decision": {"type": "noul", "noul": probability}}}


async def test_the_first_provider_that_answers_decides(
    make_decider: MakeDecider, script: Script
) -> None:
    first, second = script([noul(0.95)]), script([noul(0.1)])
    reply = await make_decider(first=first, second=second).decide(ASK)
    assert (reply["status"], reply["decision"], reply["provider"]) == ("decided", "yes", "first")
    assert [attempt["outcome"] for attempt in reply["attempts"]] == ["ok"]
    assert second.asked == []


FAILURES: list[tuple[object, str, str]] = [
    (ProviderTimeout("no answer within 5 s"), "timeout", "provider_timeout"),
    (ProviderUnreachable("no connection"), "error", "provider_error"),
    (ProviderError("status 500"), "error", "provider_error"),
    (KeyRejected("the key was not accepted"), "error", "provider_error"),
    (RateLimited("rate limit"), "error", "provider_error"),
    (Overloaded("no capacity"), "error", "provider_error"),
    (UpstreamRejected("status 422"), "error", "provider_error"),
    (MalformedResponse("not JSON"), "malformed", "malformed_response"),
    (RuntimeError("sk-secret in /home/x"), "error", "provider_error"),
    ({"answers": {}}, "malformed", "malformed_response"),
    (noul(1.7), "malformed", "malformed_response"),
]


@pytest.mark.parametrize(("failure", "outcome", "code"), FAILURES, ids=str)
async def test_a_failure_leads_on_to_the_next_provider(
    make_decider: MakeDecider, script: Script, failure: object, outcome: str, code: str
) -> None:
    reply = await make_decider(first=script([failure]), second=script([noul(0.9)])).decide(ASK)
    assert (reply["status"], reply["provider"], reply["error"]) == ("decided", "second", None)
    assert [attempt["outcome"] for attempt in reply["attempts"]] == [outcome, "ok"]
    assert reply["attempts"][0]["detail"]
    assert "sk-secret" not in json.dumps(reply)


@pytest.mark.parametrize(("own", "status"), [(0.5, "decided"), (0.95, "abstained")])
async def test_the_threshold_of_the_provider_that_answered_counts(
    make_decider: MakeDecider, script: Script, *, own: float, status: str
) -> None:
    decider = make_decider(
        DecideConfig(threshold=0.7),
        thresholds={"first": 1.45 - own, "second": own},
        first=script([Overloaded("busy")]),
        second=script([noul(0.8)]),
    )
    reply = await decider.decide(ASK)
    assert (reply["provider"], reply["threshold"], reply["status"]) == ("second", own, status)


@pytest.mark.parametrize(("failure", "outcome", "code"), FAILURES, ids=str)
async def test_the_error_of_a_chain_that_failed_is_that_of_its_last_attempt(
    make_decider: MakeDecider, script: Script, failure: object, outcome: str, code: str
) -> None:
    first = script([ProviderTimeout("late")])
    reply = await make_decider(first=first, last=script([failure])).decide(ASK)
    assert (reply["status"], reply["error"]["code"]) == ("error", code)
    assert reply["error"]["message"].startswith("last: ")
    assert [attempt["outcome"] for attempt in reply["attempts"]] == ["timeout", outcome]


@pytest.mark.parametrize(
    "answer",
    [
        {"answers": {"decision": {"type": "refusal"}}},
        {"answers": {"decision": {"type": "noul", "noul": 0.9, "abstention": "abstained"}}},
        noul(0.55),
    ],
    ids=["a refusal", "an abstention", "a low confidence"],
)
async def test_an_abstention_never_triggers_a_fallback(
    make_decider: MakeDecider, script: Script, answer: object
) -> None:
    second = script([noul(0.9)])
    reply = await make_decider(first=script([answer]), second=second).decide(ASK)
    assert (reply["status"], reply["decision"], reply["provider"]) == ("abstained", None, "first")
    assert [attempt["outcome"] for attempt in reply["attempts"]] == ["abstained"]
    assert second.asked == []


async def test_nothing_is_retried_within_one_provider(
    make_decider: MakeDecider, script: Script
) -> None:
    only = script([ProviderUnreachable("reset"), noul(0.9)])
    await make_decider(only=only).decide(ASK)
    assert len(only.asked) == 1


async def test_a_provider_that_cannot_take_the_options_is_skipped_without_a_call(
    make_decider: MakeDecider, script: Script
) -> None:
    small = script([noul(1)], Capabilities(formats=SYSTEM_ONE, keyless=True, max_options=2))
    spread = {"a": 0.8, "b": 0.1, "c": 0.1}
    answer = {"type": "choice", "choice": "a", "probabilities": spread}
    large = script([{"answers": {"decision": answer}}])
    ask = {"question": "?", "options": ["a", "b", "c"]}
    reply = await make_decider(small=small, large=large).decide(ask)
    assert (reply["provider"], small.asked) == ("large", [])
    skipped = reply["attempts"][0]
    assert (skipped["provider"], skipped["outcome"]) == ("small", "error")
    assert "at most 2 options" in skipped["detail"]


async def test_a_provider_that_takes_no_yes_or_no_abstains_and_says_why(
    make_decider: MakeDecider, script: Script
) -> None:
    notes = ("answers by topic",)
    limits = Capabilities(formats=SYSTEM_ONE, keyless=True, yes_no=YesNo.UNSUPPORTED, notes=notes)
    topical, second = script([noul(1)], limits), script([noul(1)])
    reply = await make_decider(topical=topical, second=second).decide(ASK)
    assert (reply["status"], reply["reason"]) == ("abstained", "provider_abstained")
    assert "yes/no" in reply["rationale"]
    assert reply["warnings"] == ["answers by topic"]
    assert (topical.asked, second.asked) == ([], [])
    assert reply["attempts"][0]["outcome"] == "abstained"


async def test_a_provider_without_its_key_is_never_asked(
    make_decider: MakeDecider, script: Script
) -> None:
    locked = script([noul(1)], Capabilities(formats=SYSTEM_ONE))
    reply = await make_decider(locked=locked).decide(ASK)
    assert reply["error"]["code"] == "config_error"
    assert "api_key" in reply["attempts"][0]["detail"]
    assert locked.asked == []


async def test_a_provider_that_could_not_be_built_leads_on(
    make_decider: MakeDecider, script: Script
) -> None:
    broken = PluginUnavailable("dialect 'acme' is not installed")
    reply = await make_decider(broken=broken, second=script([noul(0.9)])).decide(ASK)
    assert reply["provider"] == "second"
    assert reply["attempts"][0]["detail"] == "dialect 'acme' is not installed"


@pytest.mark.parametrize("chain", [{}, {"broken": ConfigError("providers.broken: bad")}])
async def test_nothing_usable_is_a_config_error(
    make_decider: MakeDecider, chain: dict[str, ConfigError]
) -> None:
    reply = await make_decider(**chain).decide(ASK)
    assert (reply["status"], reply["error"]["code"]) == ("error", "config_error")


async def test_the_timeout_bounds_each_attempt(make_decider: MakeDecider, script: Script) -> None:
    slow, slower = script([None]), script([None])
    reply = await make_decider(DecideConfig(timeout_s=0.05), a=slow, b=slower).decide(ASK)
    assert [attempt["outcome"] for attempt in reply["attempts"]] == ["timeout", "timeout"]
    assert reply["error"]["code"] == "provider_timeout"
    assert slow.cancelled
    assert slower.cancelled


async def test_a_providers_own_timeout_counts_for_it(
    make_decider: MakeDecider, script: Script, make_provider: Callable[..., Provider]
) -> None:
    hasty = make_provider("hasty", script([None]), timeout_s=0.05)
    reply = await make_decider(DecideConfig(timeout_s=30, deadline_s=60), hasty=hasty).decide(ASK)
    assert "0.05 s" in reply["attempts"][0]["detail"]


async def test_the_deadline_bounds_the_whole_call(
    make_decider: MakeDecider, script: Script
) -> None:
    started = perf_counter()
    chain = {name: script([None]) for name in "abc"}
    settings = DecideConfig(timeout_s=0.2, deadline_s=0.3)
    reply = await make_decider(settings, **chain).decide(ASK)
    assert [attempt["provider"] for attempt in reply["attempts"]] == ["a", "b"]
    assert reply["error"]["code"] == "provider_timeout"
    assert perf_counter() - started < 5
    assert chain["c"].asked == []


async def test_a_cancelled_call_cancels_the_provider(
    make_decider: MakeDecider, script: Script
) -> None:
    acme = script([None])
    call = asyncio.create_task(make_decider(acme=acme).decide(ASK))
    async with asyncio.timeout(5):
        await acme.started.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert acme.cancelled


async def test_calls_do_not_wait_for_each_other(make_decider: MakeDecider, script: Script) -> None:
    acme = script([None, noul(0.9)])
    decider = make_decider(acme=acme)
    slow = asyncio.create_task(decider.decide(ASK))
    async with asyncio.timeout(5):
        await acme.started.wait()
        assert (await decider.decide(ASK))["status"] == "decided"
    assert not slow.done()
    slow.cancel()


@pytest.mark.parametrize(
    ("request_id", "sent"),
    [
        ("order-4711", "order-4711"),
        ("a b", "a b"),
        (" a ", "%20a%20"),
        ("a\r\nx-evil: 1", "a%0D%0Ax-evil%3A%201"),
        ("naïve", "na%C3%AFve"),
    ],
)
async def test_the_id_of_a_call_goes_upstream(
    make_decider: MakeDecider, script: Script, request_id: str, sent: str
) -> None:
    one = script([noul(0.9)])
    reply = await make_decider(one=one).decide({**ASK, "request_id": request_id})
    assert (reply["status"], reply["request_id"]) == ("decided", request_id)
    assert one.asked[0].headers == {"x-request-id": sent}


async def test_what_an_upstream_says_is_told_without_content_and_its_cause_is_logged(
    make_decider: MakeDecider, script: Script, caplog: pytest.LogCaptureFixture
) -> None:
    said = "options: at most 10 items; got: a state that is long"
    error = UpstreamRejected("status 422", status=422, upstream_message=said)
    reply = await make_decider(first=script([error])).decide(
        {"question": "Urgent?", "context": {"note": "a state that is long"}}
    )
    assert reply["attempts"][0]["detail"] == "status 422: options: at most 10 items; got: […]"
    assert "a state that" not in json.dumps(reply)
    (line,) = (record for record in caplog.records if record.getMessage() == "first: error")
    assert line.levelname == "WARNING"
    assert vars(line)["s1gw_fields"] == {"cause": "status", "upstream_status": 422}
