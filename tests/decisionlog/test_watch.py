"""Decisions of a running gateway, and of the shadows beside it, end up in the log."""

import asyncio
import json
from pathlib import Path

import pytest

from gateway_core import Capabilities, DecisionReply, Endpoint, Format, hookimpl
from gateway_core.calibration import Calibrator, Thresholds
from gateway_core.config.model import DecideConfig, DecisionLogConfig
from gateway_core.decide import Chain, Decider, Link, VerdictRules
from gateway_core.decisionlog.watch import log_path, watching
from gateway_core.errors import ConfigError, Overloaded
from gateway_core.provider import build_provider

pytestmark = pytest.mark.anyio
ASKED = {"question": "Who?", "options": ["a", "b"], "request_id": "r1"}


def provider(name, spread, gate=None):
    """Return a provider that answers with ``spread``, or fails without one."""

    class Fixed:
        def __init__(self, context):
            self.context = context

        @hookimpl
        def capabilities(self):
            return Capabilities(formats=frozenset({Format.SYSTEMONE}), keyless=True)

        @hookimpl
        def build_url(self):
            return "https://up.example/v1/systemone"

        @hookimpl
        async def decide(self):
            if gate is not None:
                await gate.wait()
            if spread is None:
                raise Overloaded("busy")
            choice = {"type": "choice", "choice": max(spread, key=spread.get)}
            answers = {"decision": choice | {"probabilities": spread}}
            return DecisionReply(body=json.dumps({"model": "m-1", "answers": answers}).encode())

    parts = {"dialect": "fixed", "endpoint": Endpoint(), "settings": {}, "sender": None}
    return build_provider(Fixed, name=name, **parts)


def chain_of(*providers):
    settings = DecideConfig()
    rules = VerdictRules(calibrator=Calibrator(), thresholds=Thresholds(settings.threshold))
    links = [Link(name=one.name, provider=one) for one in providers]
    nobody = ConfigError("nobody")
    return Chain(links=links, settings=settings, rules=rules, error_when_empty=nobody)


@pytest.fixture
def run(tmp_path, read):
    """Decide once with a log and shadows; return the reply and the log's entries."""

    async def decided(chain, *shadows, paused=False, **config):
        settings = DecisionLogConfig(
            enabled=True, content=True, shadow=tuple(one.name for one in shadows), **config
        )
        by_name = {one.name: one for one in shadows}
        async with watching(settings, tmp_path, lambda name: chain_of(by_name[name])) as seen:
            decider = Decider(
                chain=chain_of(*chain), is_paused=lambda: paused, observers=seen.observers
            )
            async with asyncio.timeout(10):
                reply = await decider.decide(ASKED)
            for one in shadows:
                if one.name.startswith("slow"):
                    SLOW.set()
        return reply, read(log_path(settings, tmp_path))

    return decided


SLOW = asyncio.Event()


async def test_a_decision_is_logged(run):
    reply, (entry,) = await run([provider("acme", {"a": 0.9, "b": 0.1})])
    for key in ("request_id", "status", "provider", "model", "confidence", "latency_ms"):
        assert entry[key] == reply[key]
    assert (entry["decision"], entry["probabilities"]) == ("a", {"a": 0.9, "b": 0.1})
    assert entry["attempts"] == reply["attempts"]


async def test_an_abstention_keeps_what_would_have_been_decided(run):
    reply, (entry,) = await run([provider("acme", {"a": 0.55, "b": 0.45})])
    assert reply["decision"] is None
    assert (entry["status"], entry["reason"]) == ("abstained", "below_threshold")
    assert (entry["decision"], entry["threshold"]) == ("a", 0.6)


async def test_a_failure_is_logged_with_who_failed(run):
    _, (entry,) = await run([provider("acme", None)])
    assert (entry["status"], entry["reason"]) == ("error", "provider_error")
    assert (entry["provider"], entry["decision"]) == ("acme", None)


async def test_a_shadow_is_logged_and_changes_nothing(run):
    reply, (answer, shadow) = await run(
        [provider("acme", {"a": 0.9, "b": 0.1})], provider("other", {"a": 0.2, "b": 0.8})
    )
    assert (reply["decision"], reply["provider"]) == ("a", "acme")
    assert [attempt["provider"] for attempt in reply["attempts"]] == ["acme"]
    assert (answer["role"], shadow["role"]) == ("chain", "shadow")
    assert (shadow["provider"], shadow["decision"]) == ("other", "b")
    assert (shadow["request_id"], shadow["digest"]) == ("r1", answer["digest"])


async def test_the_reply_does_not_wait_for_a_shadow(run):
    SLOW.clear()
    slow = provider("slow", {"a": 0.9, "b": 0.1}, SLOW)
    reply, entries = await run([provider("acme", {"a": 0.9, "b": 0.1})], slow)
    assert reply["status"] == "decided"
    assert [entry["provider"] for entry in entries] == ["acme", "slow"]


async def test_a_shadow_that_fails_is_an_entry_of_the_log(run):
    reply, (_, shadow) = await run(
        [provider("acme", {"a": 0.9, "b": 0.1})], provider("other", None)
    )
    assert reply["status"] == "decided"
    assert (shadow["provider"], shadow["status"]) == ("other", "error")


async def test_a_provider_that_the_chain_tried_is_no_shadow(run):
    acme = provider("acme", {"a": 0.9, "b": 0.1})
    _, entries = await run([acme], acme)
    assert [entry["role"] for entry in entries] == ["chain"]


async def test_nobody_is_asked_while_the_gateway_is_paused(run):
    other = provider("other", {"a": 0.9, "b": 0.1})
    _, (entry,) = await run([provider("acme", None)], other, paused=True)
    assert (entry["reason"], entry["provider"]) == ("paused", None)


async def test_nothing_is_written_when_the_log_is_off(tmp_path):
    async with watching(DecisionLogConfig(), tmp_path, chain_of) as watch:
        assert (watch.observers, watch.problems()) == ((), ())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (DecisionLogConfig(shadow=("other",)), "needs decision_log.enabled"),
        (DecisionLogConfig(enabled=True, path=Path("/")), "decision_log.path: cannot be opened"),
    ],
)
async def test_a_log_that_cannot_be_kept_is_told(tmp_path, config, said):
    async with watching(config, tmp_path, chain_of) as watch:
        assert said in watch.problems()[0]


async def test_more_shadows_than_are_asked_at_a_time_are_counted_and_logged(tmp_path, caplog):
    never = asyncio.Event()
    slow = provider("slow", {"a": 0.9, "b": 0.1}, never)
    settings = DecisionLogConfig(enabled=True, shadow=("slow",))
    async with watching(settings, tmp_path, lambda _: chain_of(slow)) as watch:
        chain = chain_of(provider("acme", {"a": 0.9, "b": 0.1}))
        decider = Decider(chain=chain, is_paused=lambda: False, observers=watch.observers)
        for number in range(40):
            reply = await decider.decide({**ASKED, "request_id": f"r{number}"})
            assert reply["status"] == "decided"
        (told,) = watch.problems()
        assert "decision_log.shadow: 8 were not asked" in told
        never.set()
    lost = [record.getMessage() for record in caplog.records if "not asked" in record.message]
    assert [line.partition(":")[0] for line in lost] == [
        "shadows were not asked (1, 1 since the start)",
        "shadows were not asked (7, 8 since the start)",
    ]
