"""What cannot be used closes the gateway: a redaction is never left out."""

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from gateway_core import Gateway
from gateway_core.api import MIDDLEWARE_GROUP
from gateway_core.cli import main
from gateway_core.errors import ConfigError
from gateway_core.schema import CAPABILITIES, HEALTH
from gateway_core.testing import ScriptedUpstream

pytestmark = pytest.mark.anyio
ASK = {"question": "Urgent?"}


async def reports(gateway, *names: str, **options: Any) -> tuple[dict[str, Any], ...]:
    async with gateway(*names, **options) as opened:
        decided = await opened.decide(ASK)
        health, capabilities = await opened.health(), await opened.capabilities()
    jsonschema.validate(health, HEALTH)
    jsonschema.validate(capabilities, CAPABILITIES)
    assert health["middleware"] == capabilities["middleware"]
    return decided, health, capabilities


async def test_both_reports_list_what_is_in_use_in_order(gateway) -> None:
    decided, health, _ = await reports(gateway, "redact", "audit")

    assert decided["status"] == "decided"
    assert health["status"] != "down"
    assert health["middleware"] == [
        {"name": "redact", "ok": True, "detail": "acme 1.0"},
        {"name": "audit", "ok": True, "detail": "acme 1.0"},
    ]


async def test_nothing_is_imported_that_is_not_configured(gateway) -> None:
    await reports(gateway)

    assert "acme_middleware" not in sys.modules


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("nowhere", "no middleware 'nowhere' is installed"),
        ("*", "no middleware '*' is installed"),
        ("audti", "did you mean 'audit'?"),
        ("sync", "it has no 'decide' that is async def"),
        ("undecided", "it has no 'decide' that is async def"),
        ("narrow", "'decide' must take the request and proceed"),
        ("crash", "Crash raised ValueError"),
        ("crash-hard", "CrashHard raised SystemExit"),
        ("absent", "acme 1.0: AttributeError"),
    ],
)
async def test_one_that_cannot_be_used_closes_the_gateway(
    gateway, upstream: ScriptedUpstream, name: str, fault: str
) -> None:
    decided, health, _ = await reports(gateway, "audit", name)

    assert decided["error"]["code"] == "config_error"
    assert f"middleware.{name}: " in decided["error"]["message"]
    assert fault in decided["error"]["message"]
    assert "secret-word" not in str((decided, health))
    assert not [request for request in upstream.requests if request.method == "POST"]
    assert health["status"] == "down"
    assert [found["ok"] for found in health["middleware"]] == [True, False]
    assert any(fault in error for error in health["config_errors"])


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ("[middleware.redact]\nsettings = { wrod = 'x' }", "middleware.redact.settings.wrod"),
        ("[middleware.redact]\nsettings = { word = 3 }", "middleware.redact.settings.word"),
        ("[middleware.redact]\nsettings = { token = 's3cret' }", "never written out"),
        ("[middleware.redact]\nsetting = {}", "middleware.redact.setting: unknown key"),
        ("[middleware]\nredact = 3", "middleware.redact: expected a table"),
        ("[middlewares.redact]\nsettings = { word = 'x' }", 'did you mean "middleware"?'),
        ("[middleware.Redact]\n[middleware.redact]", "differs from"),
    ],
)
async def test_faulty_settings_close_the_gateway(gateway, more: str, fault: str) -> None:
    decided, health, _ = await reports(gateway, "redact", more=more)

    assert decided["error"]["code"] == "config_error"
    assert any(fault in error for error in health["config_errors"]), health["config_errors"]
    assert "s3cret" not in str((decided, health))


@pytest.mark.parametrize("value", ["'redact'", "[3]", "['redact', 'redact']"])
@pytest.mark.parametrize("key", ["middleware", "midleware"])
async def test_a_list_that_cannot_be_read_closes_the_gateway(
    installed, tmp_path: Path, value: str, key: str
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f"[decide]\nchain = ['local']\n{key} = {value}\n")
    environ = {"S1GW_DECIDE_CHAIN": "local", "S1GW_STATE_DIR": str(tmp_path / "state")}
    async with Gateway.open(path, environ=environ) as opened:
        reply = await opened.decide(ASK)

    assert reply["error"]["code"] == "config_error"


async def test_settings_reach_their_middleware_with_secrets_looked_up(gateway) -> None:
    more = "[middleware.redact]\nsettings = { word = 'x', token = { env = 'TOKEN' } }"
    async with gateway("redact", more=more, environ={"TOKEN": "s3cret"}):
        import acme_middleware

        (built,) = acme_middleware.built
    assert built.word == "x"


async def test_a_disabled_one_closes_the_gateway_too(gateway) -> None:
    decided, _, _ = await reports(gateway, "audit", environ={"S1GW_DISABLED_PLUGINS": "audit"})

    assert "acme 1.0 is disabled" in decided["error"]["message"]
    assert "acme_middleware" not in sys.modules


async def test_a_table_that_nothing_names_is_a_fault(gateway) -> None:
    decided, health, _ = await reports(gateway, "audit", more="[middleware.redact]\n")

    assert decided["status"] == "decided"
    assert health["config_errors"] == [
        "middleware.redact: not used; name it in decide.middleware, or remove the table"
    ]


async def test_faults_are_fatal_where_the_operator_wants_them_to_be(gateway) -> None:
    with pytest.raises(ConfigError, match="Crash raised ValueError"):
        async with gateway("crash", environ={"S1GW_STRICT_PLUGINS": "1"}):
            pass


def listed() -> dict[str, dict[str, Any]]:
    result = CliRunner().invoke(main, ["plugins", "list", "--json"])
    return {row["dialect"]: row for row in json.loads(result.stdout)}


def test_the_list_shows_middleware_with_its_state_and_reason(site) -> None:
    site.distribution("acme", {MIDDLEWARE_GROUP: {"audit": "nowhere:A", "mask": "nowhere:M"}})
    site.distribution("other", {MIDDLEWARE_GROUP: {"mask": "nowhere:M"}})
    site.distribution("old", {"gateway_core.middleware.v0": {"old": "nowhere:O"}})
    rows = listed()

    assert (rows["audit"]["kind"], rows["audit"]["state"]) == ("middleware", "available")
    assert rows["mask"]["state"] == "conflict"
    assert "acme 1.0 and other 1.0" in rows["mask"]["reason"]
    assert rows["old"]["state"] == "incompatible"


def test_a_provider_and_a_middleware_may_share_a_name(site) -> None:
    site.distribution("acme", {MIDDLEWARE_GROUP: {"laya": "nowhere:A"}})
    result = CliRunner().invoke(main, ["plugins", "list", "--json"])
    both = [row["state"] for row in json.loads(result.stdout) if row["dialect"] == "laya"]

    assert both == ["available", "available"]


@pytest.mark.parametrize(("name", "code"), [("audit", 0), ("crash", 1)])
def test_config_check_builds_what_is_configured(installed, write_config, name, code) -> None:
    result = CliRunner().invoke(main, ["--config", str(write_config(name)), "config", "check"])

    assert result.exit_code == code, result.output
    assert ("middleware.crash: Crash raised ValueError" in result.output) == bool(code)


def test_health_and_capabilities_show_it_to_people(installed, write_config) -> None:
    for command in ("health", "capabilities"):
        result = CliRunner().invoke(main, ["--config", str(write_config("audit")), command])
        assert "every question passes, in this order:\n  audit: acme 1.0" in result.output
