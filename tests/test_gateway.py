"""The facade for programs: opened from a configuration, it answers, probes and describes."""

import asyncio
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import jsonschema
import pytest

from gateway_core import Gateway
from gateway_core.errors import ConfigError
from gateway_core.pause import Pause
from gateway_core.schema import CAPABILITIES, HEALTH, RESPONSE
from gateway_core.testing import Gate, Raw, Reply, ScriptedUpstream

pytestmark = pytest.mark.anyio
ASK = {"question": "Urgent?"}
NOUL = {"model": "m", "answers": {"decision": {"type": "noul", "noul": 0.9}}}
MODELS = {"models": [{"name": "m", "description": "", "release_date": "unknown"}]}


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S1GW_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture
def first() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as server:
        yield server


@pytest.fixture
def second() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as server:
        yield server


def config(folder: Path, *upstreams: ScriptedUpstream, more: str = "") -> Path:
    names = [f"p{number}" for number, _ in enumerate(upstreams)]
    tables = (
        f'[providers.{name}]\napi_format = "systemone"\nbase_url = "{upstream.url}"\n'
        f'models = ["m"]\nsettings.listing = "typesafe"\n'
        for name, upstream in zip(names, upstreams, strict=True)
    )
    path = folder / "s1gw.toml"
    path.write_text(f"[decide]\nchain = {names}\n{more}\n" + "".join(tables), encoding="utf-8")
    return path


async def test_a_program_asks_for_a_decision(tmp_path: Path, first: ScriptedUpstream) -> None:
    first.answer(Reply(body=NOUL))
    async with Gateway.open(config(tmp_path, first)) as gateway:
        reply = await gateway.decide(ASK)
    jsonschema.validate(reply, RESPONSE)
    assert (reply["decision"], reply["provider"]) == ("yes", "p0")


@pytest.mark.parametrize("given", ["text", "tilde", "path", "path with a tilde"])
async def test_the_configuration_may_be_named_by_text_or_path(
    tmp_path: Path, first: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    path = config(tmp_path, first)
    named = f"~/{path.name}" if "tilde" in given else str(path)
    async with Gateway.open(Path(named) if "path" in given else named) as gateway:
        assert gateway.config.source == path


async def test_a_file_that_is_not_there_is_told_alike_for_text_and_path(tmp_path: Path) -> None:
    missing = tmp_path / "none.toml"
    told = []
    for named in (missing, str(missing)):
        async with Gateway.open(named) as gateway:
            told.append((await gateway.health())["config_errors"])
    assert told[0] == told[1]
    assert "there is no such file" in told[0][0]


@pytest.mark.parametrize("line", ["base_url = '127.0.0.1:9'", "", "base_url = 'ftp://h.example'"])
async def test_an_unusable_url_is_a_fault_of_the_configuration_and_no_call(
    tmp_path: Path, line: str
) -> None:
    path = tmp_path / "s1gw.toml"
    path.write_text(
        f"[decide]\nchain = ['engine']\n[providers.engine]\napi_format = 'systemone'\n{line}\n"
    )
    async with Gateway.open(path) as gateway:
        reply = await gateway.decide(ASK)
        health = await gateway.health()
    assert reply["error"]["code"] == "config_error"
    assert [attempt["calls"] for attempt in reply["attempts"]] == [0]
    assert health["status"] == "down"
    assert "providers.engine.base_url: " in health["config_errors"][0]


async def test_a_program_gets_an_invalid_request_as_a_reply(
    tmp_path: Path, first: ScriptedUpstream
) -> None:
    async with Gateway.open(config(tmp_path, first)) as gateway:
        reply = await gateway.decide({"question": ""})
    assert reply["error"]["code"] == "invalid_request"


async def test_a_server_that_answers_with_an_error_leads_on(
    tmp_path: Path, first: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    first.answer(Reply(status=503, body={"detail": "secret-detail"}))
    second.answer(Reply(body=NOUL))
    async with Gateway.open(config(tmp_path, first, second)) as gateway:
        reply = await gateway.decide(ASK)
    assert [attempt["outcome"] for attempt in reply["attempts"]] == ["error", "ok"]
    assert "secret-detail" not in str(reply)


UP, DOWN = Reply(body=MODELS), Reply(status=500)


@pytest.mark.parametrize(
    ("one", "other", "status"),
    [(UP, UP, "ok"), (UP, DOWN, "ok"), (DOWN, UP, "degraded"), (DOWN, DOWN, "down")],
)
async def test_health_is_that_of_the_chain(
    tmp_path: Path,
    first: ScriptedUpstream,
    second: ScriptedUpstream,
    *,
    one: Reply,
    other: Reply,
    status: str,
) -> None:
    first.answer(one)
    second.answer(other)
    async with Gateway.open(config(tmp_path, first, second)) as gateway:
        health = await gateway.health()
    jsonschema.validate(health, HEALTH)
    assert health["status"] == status
    assert [(p["name"], p["role"], p["ok"]) for p in health["providers"]] == [
        ("p0", "primary", one is UP),
        ("p1", "fallback", other is UP),
    ]
    assert all(request.method == "GET" for request in (*first.requests, *second.requests))


async def test_probes_run_side_by_side(
    tmp_path: Path, first: ScriptedUpstream, second: ScriptedUpstream
) -> None:
    gate = Gate()
    first.answer(Reply(body=MODELS, gate=gate))
    second.answer(Reply(body=MODELS, gate=gate))
    async with Gateway.open(config(tmp_path, first, second)) as gateway, asyncio.timeout(30):
        probing = asyncio.create_task(gateway.health())
        await first.received()
        await second.received()
        gate.open()
        assert (await probing)["status"] == "ok"


async def test_a_probe_is_bounded(tmp_path: Path, first: ScriptedUpstream) -> None:
    first.answer(Raw(hold=True))
    path = config(tmp_path, first)
    path.write_text(path.read_text() + "timeout_s = 0.1\n")
    started = perf_counter()
    async with Gateway.open(path) as gateway:
        health = await gateway.health()
    assert health["status"] == "down"
    assert perf_counter() - started < 5


async def test_capabilities_describe_the_chain(tmp_path: Path, first: ScriptedUpstream) -> None:
    more = "timeout_s = 3\nthreshold = 0.7\n[decide.thresholds]\np0 = 0.8"
    async with Gateway.open(config(tmp_path, first, more=more)) as gateway:
        found = await gateway.capabilities()
    jsonschema.validate(found, CAPABILITIES)
    assert (found["timeout_s"], found["deadline_s"]) == (3, 25)
    assert (found["threshold"], found["thresholds"]) == (0.7, {"p0": 0.8})
    (provider,) = found["providers"]
    assert (provider["name"], provider["model"]) == ("p0", "m")
    assert provider["capabilities"]["formats"] == ["systemone"]
    assert first.requests == ()


async def test_fits_of_the_state_folder_are_applied_and_listed(
    tmp_path: Path, first: ScriptedUpstream
) -> None:
    folder = tmp_path / "state" / "calibration"
    folder.mkdir(parents=True)
    (folder / "cal-1.json").write_text(
        '{"id": "cal-1", "provider": "p0", "created": "2026-01-01T00:00:00Z", "fits": [{"model":'
        ' "m", "question_type": "yes_no", "bucket": "2", "temperature": 2.0, "examples": 50}]}'
    )
    (folder / "broken.json").write_text("{")
    first.answer(Reply(body=NOUL))
    async with Gateway.open(config(tmp_path, first)) as gateway:
        reply = await gateway.decide(ASK)
        found = await gateway.capabilities()
        health = await gateway.health()
    assert (reply["calibrated"], reply["confidence"]) == (True, pytest.approx(0.75))
    assert [(fit["id"], fit["stale"]) for fit in found["calibration"]] == [("cal-1", None)]
    assert any("broken.json" in warning for warning in health["warnings"])


async def test_a_stale_fit_is_told_by_health_and_capabilities(
    tmp_path: Path, first: ScriptedUpstream
) -> None:
    folder = tmp_path / "state" / "calibration"
    folder.mkdir(parents=True)
    (folder / "cal-1.json").write_text(
        '{"id": "cal-1", "provider": "p0", "created": "2026-01-01T00:00:00Z", "fits": [{"model":'
        ' "m-0", "question_type": "yes_no", "bucket": "2", "temperature": 2.0, "examples": 50}]}'
    )
    first.answer(Reply(body=NOUL))
    async with Gateway.open(config(tmp_path, first)) as gateway:
        reply = await gateway.decide(ASK)
        found: dict[str, Any] = await gateway.capabilities()
        health = await gateway.health()
    assert not reply["calibrated"]
    for warnings in (reply["warnings"], found["warnings"], health["warnings"]):
        assert any("stale" in warning for warning in warnings)
    assert "stale" in found["calibration"][0]["stale"]


async def test_a_configuration_that_is_no_toml_stops_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s1gw.toml"
    path.write_text("chain = [")
    async with Gateway.open(path, environ={**os.environ, "S1GW_DISABLED_PLUGINS": "*"}) as gateway:
        reply, health = await gateway.decide(ASK), await gateway.health()
        found = await gateway.capabilities()
    assert reply["error"]["code"] == "config_error"
    assert "TOML" in reply["error"]["message"]
    assert (health["status"], health["config_file"]) == ("down", None)
    assert "TOML" in health["config_errors"][0]
    assert found["config_errors"] == health["config_errors"]


async def test_faults_are_fatal_where_the_operator_wants_them_to_be(tmp_path: Path) -> None:
    path = tmp_path / "s1gw.toml"
    path.write_text("[decide]\ntimeout = 3\n")
    with pytest.raises(ConfigError, match="timeout"):
        async with Gateway.open(path, environ={**os.environ, "S1GW_STRICT_PLUGINS": "1"}):
            pass


async def test_an_automatic_chain_that_leaves_the_machine_is_announced(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    environ = {
        "PERPLEXITY_API_KEY": "pplx-secret",
        "XDG_CONFIG_HOME": str(tmp_path),
        "S1GW_STATE_DIR": str(tmp_path / "state"),
    }
    with caplog.at_level(logging.WARNING):
        async with Gateway.open(environ=environ) as gateway:
            found = await gateway.capabilities()
    assert found["chain_source"] == "automatic"
    assert found["chain"][0] == "perplexity"
    assert caplog.text.count("api.perplexity.ai") == 1
    assert "pplx-secret" not in caplog.text


async def test_the_state_folder_follows_the_environment_that_it_is_given(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    Pause(mine).start()
    environ = {"S1GW_DECIDE_CHAIN": "local", "XDG_CONFIG_HOME": str(tmp_path)}
    async with (
        Gateway.open(environ={**environ, "S1GW_STATE_DIR": str(mine)}) as paused,
        Gateway.open(environ={**environ, "S1GW_STATE_DIR": str(tmp_path / "other")}) as running,
    ):
        assert (await paused.health())["status"] == "paused"
        assert (await running.health())["status"] == "ok"
        Pause(mine).end()
        assert (await paused.health())["status"] == "ok"
