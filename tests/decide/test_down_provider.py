"""A provider that is down, seen by who asks: real servers, and what the replies and health say."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gateway_core import Gateway
from gateway_core.schema import HEALTH
from gateway_core.testing import Gate, Reply, ScriptedUpstream

pytestmark = pytest.mark.anyio
ASK = {"question": "Urgent?"}
NOUL = {"model": "m", "answers": {"decision": {"type": "noul", "noul": 0.9}}}
MODELS = {"models": [{"name": "m", "description": "", "release_date": "unknown"}]}


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S1GW_STATE_DIR", str(tmp_path / "state"))


class Upstreams(list[ScriptedUpstream]):
    """Three servers that answer, and a file that names the first ones of them as a chain."""

    def config(self, folder: Path, count: int, more: str = "", hasty: int = 1) -> Path:
        """Write the file; the first ``hasty`` of the chain have little time to answer."""
        names = [f"p{number}" for number in range(count)]
        path = folder / "s1gw.toml"
        tables = [
            f'[providers.{name}]\napi_format = "systemone"\nbase_url = "{server.url}"\n'
            f'models = ["m"]\nsettings.listing = "typesafe"\n'
            f"timeout_s = {0.25 if number < hasty else 20}\n"
            for number, (name, server) in enumerate(zip(names, self, strict=False))
        ]
        head = f"[decide]\nchain = {names}\n{more}\n"
        path.write_text(head + "".join(tables), encoding="utf-8")
        return path


@pytest.fixture
def upstreams() -> Iterator[Upstreams]:
    with ScriptedUpstream() as one, ScriptedUpstream() as two, ScriptedUpstream() as three:
        for server in (one, two, three):
            server.answer(answers)
        yield Upstreams([one, two, three])


async def answers(request: Any) -> Reply:
    return Reply(body=NOUL if request.method == "POST" else MODELS)


def silent(server: ScriptedUpstream) -> Gate:
    """Let ``server`` take requests and answer none until the gate is opened."""
    gate = Gate()

    async def wait(request: Any) -> Reply:
        await gate.passed()
        return await answers(request)

    server.answer(wait)
    return gate


def questions(server: ScriptedUpstream) -> int:
    return sum(request.method == "POST" for request in server.requests)


def calls(reply: dict[str, Any]) -> dict[str, int]:
    return {attempt["provider"]: attempt["calls"] for attempt in reply["attempts"]}


async def ask(gateway: Gateway, times: int) -> dict[str, Any]:
    for _ in range(times):
        reply = await gateway.decide(ASK)
    return reply


async def test_a_provider_that_is_silent_is_passed_over_after_three_questions(
    tmp_path: Path, upstreams: Upstreams
) -> None:
    silent(upstreams[0])
    async with Gateway.open(upstreams.config(tmp_path, 2)) as gateway:
        replies = [await gateway.decide(ASK) for _ in range(6)]
        health = await gateway.health()
    assert [reply["attempts"][0]["calls"] for reply in replies] == [1, 1, 1, 0, 0, 0]
    assert {reply["provider"] for reply in replies} == {"p1"}
    skipped = replies[-1]["attempts"][0]
    assert (skipped["provider"], skipped["outcome"]) == ("p0", "error")
    assert skipped["detail"].startswith("cooling down, last failure: timeout ")
    jsonschema.validate(health, HEALTH)
    assert health["status"] == "degraded"
    assert health["providers"][0]["cooldown"].startswith("cooling down, ")
    assert health["providers"][1]["cooldown"] is None


async def test_a_provider_that_refuses_connections_is_passed_over_too(
    tmp_path: Path, upstreams: Upstreams
) -> None:
    path = upstreams.config(tmp_path, 2)
    upstreams[0].stop()
    async with Gateway.open(path) as gateway:
        reply = await ask(gateway, 4)
    assert "last failure: connect refused" in reply["attempts"][0]["detail"]


@pytest.mark.parametrize("status", [401, 404, 422, 429, 500, 503, 529])
async def test_a_provider_that_answers_with_an_error_is_not_down(
    tmp_path: Path, upstreams: Upstreams, status: int
) -> None:
    upstreams[0].answer(Reply(status=status, body={"detail": "no"}))
    async with Gateway.open(upstreams.config(tmp_path, 2)) as gateway:
        await ask(gateway, 6)
    assert questions(upstreams[0]) == 6


async def test_a_probe_in_the_background_brings_a_provider_back(
    tmp_path: Path, upstreams: Upstreams
) -> None:
    gate = silent(upstreams[0])
    async with Gateway.open(upstreams.config(tmp_path, 2)) as gateway:
        await ask(gateway, 4)
        asked = len(upstreams[0].requests)
        gate.open()
        # The probe is the only request that comes by itself, and it costs nothing.
        await upstreams[0].received(asked + 1)
        assert upstreams[0].requests[-1].method == "GET"
        async with asyncio.timeout(20):
            reply = await gateway.decide(ASK)
            while reply["provider"] != "p0":
                reply = await gateway.decide(ASK)
        assert calls(reply) == {"p0": 1}
        health = await gateway.health()
    assert (health["status"], health["providers"][0]["cooldown"]) == ("ok", None)


async def test_the_only_provider_is_always_asked_and_never_probed(
    tmp_path: Path, upstreams: Upstreams
) -> None:
    silent(upstreams[0])
    async with Gateway.open(upstreams.config(tmp_path, 1)) as gateway:
        reply = await ask(gateway, 6)
    assert reply["error"]["code"] == "provider_timeout"
    assert questions(upstreams[0]) == len(upstreams[0].requests) == 6


async def test_when_everyone_is_down_the_last_one_is_asked(
    tmp_path: Path, upstreams: Upstreams
) -> None:
    for server in upstreams:
        silent(server)
    async with Gateway.open(upstreams.config(tmp_path, 3, hasty=3)) as gateway:
        reply = await ask(gateway, 5)
    assert calls(reply) == {"p0": 0, "p1": 0, "p2": 1}
    assert reply["error"]["code"] == "provider_timeout"
    assert reply["error"]["message"].startswith("p2: ")


async def test_one_that_cools_down_is_asked_when_nobody_else_answers(
    tmp_path: Path, upstreams: Upstreams
) -> None:
    gate = silent(upstreams[0])
    async with Gateway.open(upstreams.config(tmp_path, 2)) as gateway:
        await ask(gateway, 4)
        gate.open()
        upstreams[1].answer(Reply(status=500, body={}))
        reply = await gateway.decide(ASK)
    assert reply["provider"] == "p0"
    assert calls(reply) == {"p1": 1, "p0": 1}


async def test_cooldown_can_be_switched_off(tmp_path: Path, upstreams: Upstreams) -> None:
    silent(upstreams[0])
    path = upstreams.config(tmp_path, 2, "cooldown = false")
    async with Gateway.open(path) as gateway:
        reply = await ask(gateway, 5)
    assert calls(reply) == {"p0": 1, "p1": 1}
    assert questions(upstreams[0]) == 5


async def test_what_the_deadline_cuts_short_is_not_held_against_a_provider(
    tmp_path: Path, upstreams: Upstreams
) -> None:
    silent(upstreams[0])
    silent(upstreams[1])
    path = upstreams.config(tmp_path, 2, "deadline_s = 0.3", hasty=2)
    async with Gateway.open(path) as gateway:
        await ask(gateway, 3)
        health = await gateway.health()
    assert [probe["cooldown"] is None for probe in health["providers"]] == [False, True]


async def test_questions_at_the_same_time_learn_from_each_other_and_one_tries_again(
    tmp_path: Path, upstreams: Upstreams
) -> None:
    gate = silent(upstreams[0])
    async with Gateway.open(upstreams.config(tmp_path, 2)) as gateway:
        await asyncio.gather(*(gateway.decide(ASK) for _ in range(8)))
        assert calls(await gateway.decide(ASK)) == {"p0": 0, "p1": 1}
        asked = len(upstreams[0].requests)
        gate.open()
        await upstreams[0].received(asked + 1)
        gate = silent(upstreams[0])
        asked = questions(upstreams[0])
        async with asyncio.timeout(20):
            while questions(upstreams[0]) == asked:
                await asyncio.gather(*(gateway.decide(ASK) for _ in range(8)))
    assert questions(upstreams[0]) == asked + 1


async def test_a_client_that_never_waits_long_enough_is_no_cover_for_an_outage(
    tmp_path: Path, upstreams: Upstreams
) -> None:
    path = upstreams.config(tmp_path, 2, hasty=0)
    silent(upstreams[0])
    async with Gateway.open(path) as gateway:
        for number in range(1, 4):
            call = asyncio.create_task(gateway.decide(ASK))
            await upstreams[0].received(number)
            call.cancel()
            await asyncio.wait([call])
        await upstreams[0].received(4)
        assert upstreams[0].requests[-1].method == "GET"
        upstreams[0].stop()
        async with asyncio.timeout(30):
            words = None
            while words is None:
                words = (await gateway.health())["providers"][0]["cooldown"]
        reply = await gateway.decide(ASK)
    assert words.startswith("cooling down, last failure: no success with a probe")
    assert calls(reply) == {"p0": 0, "p1": 1}


async def test_the_call_that_a_hedge_has_beaten_is_ended_at_its_upstream(
    tmp_path: Path, upstreams: Upstreams
) -> None:
    upstreams[0].answer(Reply(body=NOUL, gate=Gate()))
    path = upstreams.config(tmp_path, 2, "hedge_after_s = 0.05", hasty=0)
    async with Gateway.open(path) as gateway:
        reply = await gateway.decide(ASK)
        (left,) = await upstreams[0].disconnected()
    assert left.method == "POST"
    assert calls(reply) == {"p0": 1, "p1": 1}
    assert (reply["provider"], len(reply["warnings"])) == ("p1", 1)


async def test_a_provider_that_loses_every_race_is_probed(
    tmp_path: Path, upstreams: Upstreams
) -> None:
    silent(upstreams[0])
    path = upstreams.config(tmp_path, 2, "hedge_after_s = 0.01", hasty=0)
    async with Gateway.open(path) as gateway:
        await ask(gateway, 3)
        found = await upstreams[0].received(4)
    assert [request.method for request in found] == ["POST", "POST", "POST", "GET"]
