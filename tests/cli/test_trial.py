"""``s1gw serve --http --check``: a trial before a deployment, which reaches nobody."""

import socket

import pytest

from gateway_core.testing import Reply, ScriptedUpstream

CONFIG = """
[orgs.one.providers.engine]
api_format = "systemone"
base_url = "http://203.0.113.5:8000"
models = ["m"]
[orgs.two.providers.secure]
api_format = "openai"
base_url = "https://203.0.113.6"
api_key = { env = "KEY" }
models = ["a/b"]
[orgs.two.limits]
rpm = 1
[orgs.three.providers.perplexity]
models = ["pplx-decision"]
api_key = { env = "KEY" }
[orgs.four.providers.local]
models = ["jev-local"]
"""


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "never-show-this")


def lines(result) -> dict[str, str]:
    found = (line.partition(": ") for line in result.stdout.splitlines())
    return {who: told for who, _, told in found}


def test_each_organization_is_served_one_request_that_reaches_nobody(
    run, write_config, monkeypatch, home
) -> None:
    write_config(CONFIG)
    with ScriptedUpstream() as proxy:
        proxy.answer(Reply(status=500, body={}))
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        result = run("serve", "--http", "--check")
        assert len(proxy.requests) == 0

    told = lines(result)
    assert result.exit_code == 0, result.output
    assert told["one"] == "served: engine was asked for m: 200"
    assert told["two"] == "served: secure was asked for a/b: 200"
    assert told["three"].startswith("served: perplexity ")
    assert told["four"] == "served: local answers in this process and was not asked"
    assert "never-show-this" not in result.output
    assert list(home.rglob("keys.json")) == []


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("base_url = 'http://10.1.1.1'", "base_url: the destination policy forbids"),
        ("base_url = 'nowhere'", "base_url: "),
        ("base_url = 'https://x.example'\nenabled = false", "no enabled provider lists a model"),
        ("api_key = { env = 'GONE' }", "no enabled provider lists a model"),
    ],
)
def test_an_organization_that_cannot_be_served_is_told_and_the_others_are_tried(
    run, write_config, table: str, told: str
) -> None:
    bad = f"[orgs.bad.providers.p]\napi_format = 'systemone'\nmodels = ['m']\n{table}\n"
    write_config(bad + CONFIG)
    result = run("serve", "--http", "--check")

    assert result.exit_code == 1
    assert lines(result)["bad"].startswith("not served: ")
    assert told in lines(result)["bad"]
    assert lines(result)["one"].startswith("served: ")


def test_what_a_start_refuses_ends_the_trial(run, write_config) -> None:
    write_config(CONFIG + "[http]\ntls_key = 'gone.pem'\n")
    result = run("serve", "--http", "--check")
    assert (result.exit_code, "http.tls_" in result.stderr) == (1, True)


def test_strict_trials_are_refused_with_the_reason(run, write_config, monkeypatch) -> None:
    monkeypatch.setenv("S1GW_STRICT_PLUGINS", "1")
    write_config("[orgs.bad.providers.p]\ndialect = 'nosuch'\nmodels = ['m']\n")
    result = run("serve", "--http", "--check")
    assert result.exit_code == 1
    assert "orgs.bad.providers.p" in result.output


def test_a_trial_leaves_the_gateway_alone_that_serves_at_the_same_place(run, write_config) -> None:
    with socket.create_server(("127.0.0.1", 0)) as served:
        write_config(f"{CONFIG}[http]\nport = {served.getsockname()[1]}\n")
        assert run("serve", "--http", "--check").exit_code == 0


@pytest.mark.parametrize(("table", "code"), [("dialect = 'laya'", 0), ("dialect = 'nosuch'", 1)])
def test_without_authentication_the_operators_provider_is_tried(
    run, write_config, table: str, code: int
) -> None:
    write_config(f"[http]\nauth = 'disabled'\n[decide]\nchain = ['p']\n[providers.p]\n{table}\n")
    result = run("serve", "--http", "--check")
    assert (result.exit_code, result.stdout.startswith("the operator: ")) == (code, True)


def test_there_is_no_trial_over_stdio(run) -> None:
    assert run("serve", "--mcp", "--check").exit_code == 2
