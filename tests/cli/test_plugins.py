"""``s1gw plugins``: what is installed, and whether it keeps the contract."""

import json
import os

import pytest

from gateway_core.api import HOOKS, PROVIDERS_GROUP
from gateway_core.testing import Received, Reply, ScriptedUpstream, standard_answer

COLUMNS = ("dialect", "kind", "distribution", "version", "state", "hooks", "homepage")
RIGHT = """
from gateway_core import Capabilities, Format, hookimpl

class Base:
    @hookimpl
    async def probe(self, url): ...

class Provider(Base):
    def __init__(self, context):
        self.context = context

    @hookimpl
    def capabilities(self):
        return Capabilities(formats=frozenset({Format.SYSTEMONE}))

    @hookimpl
    def build_url(self, operation):
        return self.context.url("/v1/systemone")

    @hookimpl()
    async def decide(self, request, url):
        return await self.context.post(url, request.body)

    def list_models(self): ...
"""


def listed(run, *arguments: str) -> dict[str, dict]:
    result = run("plugins", "list", "--json", *arguments)
    assert result.exit_code == 0, result.output
    return {row["dialect"]: row for row in json.loads(result.stdout)}


def test_the_list_tells_everything_there_is_to_know(run, site) -> None:
    site.module("acme_plugin", RIGHT)
    site.distribution("acme", {PROVIDERS_GROUP: {"acme": "acme_plugin:Provider"}}, version="2.3")

    assert listed(run)["acme"] == {
        "dialect": "acme",
        "kind": "provider",
        "distribution": "acme",
        "version": "2.3",
        "state": "available",
        "reason": "",
        "hooks": ["decide", "probe", "capabilities", "build_url"],
        "homepage": "https://example.com/acme",
    }


def test_the_table_has_the_same(run, site) -> None:
    site.module("acme_plugin", RIGHT)
    site.distribution("acme", {PROVIDERS_GROUP: {"acme": "acme_plugin:Provider"}})
    heading, *lines = run("plugins", "list").stdout.splitlines()
    (line,) = [line for line in lines if line.startswith("acme ")]

    assert heading.split() == [
        "DIALECT",
        "KIND",
        "DISTRIBUTION",
        "VERSION",
        "STATE",
        "HOOKS",
        "HOMEPAGE",
    ]
    assert line.split() == [
        *["acme", "provider", "acme", "1.0", "available"],
        "decide,probe,capabilities,build_url",
        "https://example.com/acme",
    ]


def test_the_hooks_of_first_party_plugins_are_read_from_their_source(run) -> None:
    for name in ("laya", "typesafe", "local", "openai-decisions"):
        hooks = listed(run)[name]["hooks"]
        assert {"decide", "capabilities", "build_url"} <= set(hooks)
        assert set(hooks) <= set(HOOKS)


@pytest.mark.parametrize(
    "source",
    [
        *(None, "def broken(:", "x = 1", "x = " + "-" * 100_000 + "1"),
        *("from acme_plugin import Provider", "#" * 600_000 + RIGHT, "\0"),
    ],
    ids=["none", "syntax", "nothing", "deep", "circular", "large", "nul"],
)
def test_hooks_that_cannot_be_read_are_not_guessed(run, site, source: str | None) -> None:
    if source is not None:
        site.module("acme_plugin", source)
    site.distribution("acme", {PROVIDERS_GROUP: {"acme": "acme_plugin:Provider"}})

    assert listed(run)["acme"]["hooks"] is None


def test_the_listing_says_why_a_plugin_cannot_be_used(run, site, write_config) -> None:
    write_config("[plugins]\ndisabled = ['laya']")
    site.distribution("acme-one", {PROVIDERS_GROUP: {"acme": "a:B"}})
    site.distribution("acme-two", {PROVIDERS_GROUP: {"acme": "a:B"}})
    site.distribution("old", {"gateway_core.providers.v0": {"old": "a:B"}})
    shown = run("plugins", "list").stdout

    assert "laya: s1gw-laya 0.1.0 is disabled" in shown
    assert shown.count("acme: offered by acme-one 1.0 and acme-two 1.0") == 1
    assert "old: old 1.0 is written for plugin API v0" in shown


def used_by_children() -> float:
    """Return the processor time that ended children have used, in seconds."""
    times = os.times()
    return times.children_user + times.children_system


def test_fifty_plugins_are_listed_in_an_instant(spawn, site) -> None:
    for number in range(50):
        site.module(f"plugin_{number}", RIGHT)
        entry = f"plugin_{number}:Provider"
        groups = {PROVIDERS_GROUP: {f"p{number}": entry}}
        groups["gateway_core.claims.v1"] = {f"vendor.p{number}": entry, "order.60": entry}
        site.distribution(f"plugin-{number}", groups)
    environ = {**os.environ, "PYTHONPATH": str(site.folder)}

    taken = []
    for _ in range(3):
        started = used_by_children()
        done = spawn("plugins", "list", "--json", env=environ)
        taken.append(used_by_children() - started)

    assert sum(row["distribution"].startswith("plugin-") for row in json.loads(done.stdout)) == 50
    # In seconds on a core of its own, whatever else the machine does: the promise.
    assert min(taken) < 0.3


def test_a_new_plugin_is_told_of_the_one_that_has_its_dialect(run, site, tmp_path) -> None:
    site.distribution("acme-rival", {PROVIDERS_GROUP: {"acme": "a:B"}})
    folder = tmp_path / "my plugins"
    folder.mkdir()
    shown = run("plugins", "new", "acme", "--directory", str(folder)).stdout

    assert f"cd '{folder}/s1gw-acme'" in shown
    assert "acme-rival 1.0 has the dialect 'acme'" in shown


def test_a_middleware_is_not_held_to_the_contract_of_providers(run, site) -> None:
    site.distribution("acme", {"gateway_core.middleware.v1": {"redact": "a:B"}})
    result = run("plugins", "check", "redact")

    assert result.exit_code == 1
    assert "no dialect 'redact' is installed; it is middleware of acme 1.0" in result.stderr


def test_a_right_plugin_passes_its_check(spawn) -> None:
    done = spawn("plugins", "check", "laya")

    assert done.returncode == 0
    assert "pass  The class can be built" in done.stdout
    assert "FAIL" not in done.stdout


def test_a_wrong_plugin_fails_its_check_with_reasons(spawn, site) -> None:
    site.module("acme_plugin", RIGHT.replace("async def probe", "def probe"))
    site.distribution("acme", {PROVIDERS_GROUP: {"acme": "acme_plugin:Provider"}})

    done = spawn("plugins", "check", "acme", env={**os.environ, "PYTHONPATH": str(site.folder)})

    assert done.returncode == 1
    assert "FAIL  " in done.stdout
    assert "found: " in done.stdout
    assert "why:   " in done.stdout


def test_a_configured_provider_is_checked_with_its_own_settings(run, write_config) -> None:
    write_config(
        "[providers.mine]\ndialect = 'generic-systemone'\nbase_url = 'http://127.0.0.1:1'\n"
        "settings = { server = 'ollama' }\n"
    )
    results = json.loads(run("plugins", "check", "mine", "--json").stdout)

    assert all(result["passed"] for result in results), results


def test_live_also_asks_the_provider(spawn) -> None:
    done = spawn("plugins", "check", "local", "--live", "--json")
    checks = {result["check"]: result["passed"] for result in json.loads(done.stdout)}

    assert checks["the_probe_succeeds"]
    assert checks["a_decision_is_made"]


def test_live_tells_that_nobody_answers(run, write_config) -> None:
    write_config("[providers.mine]\ndialect = 'laya'\nbase_url = 'http://127.0.0.1:1'\n")
    result = run("plugins", "check", "mine", "--live")

    assert result.exit_code == 1
    assert "FAIL  The probe says that the provider is up." in result.stdout


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (Reply(status=402, body={"detail": "sk-upstream"}), "it raised PaymentRequired"),
        (Reply(body={"answers": {"decision": {"type": "noul", "noul": 0.9}}}), "MalformedResponse"),
        (Reply(body="<html>"), "MalformedResponse"),
    ],
)
def test_live_tells_a_decision_that_fails_though_the_server_is_up(
    run, write_config, answer: Reply, found: str
) -> None:
    def script(received: Received) -> Reply:
        return standard_answer(received) if received.method == "GET" else answer

    with ScriptedUpstream() as upstream:
        upstream.answer(script)
        write_config(
            f"[providers.mine]\ndialect = 'generic-systemone'\nbase_url = '{upstream.url}'\n"
            "models = ['m']\n"
        )
        result = run("plugins", "check", "mine", "--live", "--json")
        (sent,) = [one for one in upstream.requests if one.method == "POST"]
    results = {row["check"]: row for row in json.loads(result.stdout)}

    assert result.exit_code == 1
    assert results["the_probe_succeeds"]["passed"]
    assert not results["a_decision_is_made"]["passed"]
    assert found in results["a_decision_is_made"]["found"]
    assert "sk-upstream" not in result.stdout
    assert len(sent.body) < 300


def test_without_live_nobody_is_asked(run, write_config) -> None:
    with ScriptedUpstream() as upstream:
        write_config(f"[providers.mine]\ndialect = 'laya'\nbase_url = '{upstream.url}'\n")
        result = run("plugins", "check", "mine")
        assert not upstream.requests

    assert result.exit_code == 0
