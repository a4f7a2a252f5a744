"""Environment over file over defaults; a broken part stops nothing and allows nothing."""

from pathlib import Path

import pytest

from gateway_core.config.load import Loaded, load_config
from gateway_core.config.model import DecideConfig, HttpConfig


@pytest.fixture
def load(tmp_path: Path):
    def read(text: str, **environ: str) -> Loaded:
        path = tmp_path / "config.toml"
        path.write_text(text)
        return load_config(path, environ)

    return read


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    loaded = load_config(environ={"XDG_CONFIG_HOME": str(tmp_path)})

    assert loaded.faults == ()
    assert loaded.config.source is None
    assert loaded.config.decide == DecideConfig()


def test_the_defaults_are_the_documented_ones() -> None:
    decide = DecideConfig()

    assert (decide.timeout_s, decide.deadline_s, decide.threshold) == (5.0, 25.0, 0.6)


def test_the_file_goes_over_the_defaults(load) -> None:
    loaded = load("[decide]\ntimeout_s = 2\nchain = ['laya']\n[http]\nport = 9000\n")

    assert loaded.faults == ()
    assert loaded.config.decide.timeout_s == 2.0
    assert loaded.config.decide.chain == ("laya",)
    assert loaded.config.http.port == 9000


def test_the_environment_goes_over_the_file(load) -> None:
    loaded = load(
        "[decide]\ntimeout_s = 2\nthreshold = 0.9\n[plugins]\ndisabled = ['a']\n",
        S1GW_DECIDE_TIMEOUT_S="7.5",
        S1GW_DECIDE_CHAIN="laya, typesafe",
        S1GW_DECIDE_ABSTAIN_WHEN_TRUNCATED="on",
        S1GW_HTTP_PORT="81",
        S1GW_HTTP_LIMITS_STORE="redis://:secret@localhost",
        S1GW_DISABLED_PLUGINS="b,c",
        S1GW_LOG_FORMAT="",
    )

    assert loaded.faults == ()
    assert loaded.config.decide == DecideConfig(
        timeout_s=7.5, chain=("laya", "typesafe"), threshold=0.9, abstain_when_truncated=True
    )
    assert loaded.config.http.port == 81
    assert loaded.config.plugins.disabled == ("b", "c")
    assert loaded.config.log.format == "text"
    assert "secret" not in repr(loaded)


@pytest.mark.parametrize(
    ("variable", "text", "fault"),
    [
        ("S1GW_DECIDE_TIMEOUT_S", "fast", 'expected a positive number, got "fast"'),
        ("S1GW_HTTP_PORT", "8o8o", "expected a port from 0 to 65535"),
        ("S1GW_LOG_LEVEL", "loud", 'expected one of "debug", "info", "warning", "error"'),
        ("S1GW_DECIDE_TIMEOUT", "3", 'unknown key; did you mean "S1GW_DECIDE_TIMEOUT_S"?'),
    ],
)
def test_a_fault_of_the_environment_names_the_variable(load, variable, text, fault) -> None:
    (found,) = load("", **{variable: text}).faults

    assert found.startswith(f"{variable}: ")
    assert fault in found


def test_a_syntax_error_is_a_fault_with_its_place(load) -> None:
    (fault,) = load("[decide]\ntimeout_s = \n").faults

    assert "is not TOML" in fault
    assert "line 2" in fault


@pytest.mark.parametrize("variable", [True, False])
def test_a_named_file_that_is_not_there_is_a_fault(tmp_path: Path, variable: bool) -> None:
    path = tmp_path / "nope.toml"

    loaded = load_config(environ={"S1GW_CONFIG": str(path)}) if variable else load_config(path, {})

    assert loaded.faults == (f"{path}: there is no such file",)
    assert loaded.config.decide.chain == ()


def test_a_file_that_is_not_text_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"\xff\xfe")

    assert "is not UTF-8" in load_config(tmp_path / "config.toml", {}).faults[0]


@pytest.mark.parametrize(
    "text",
    [
        "[decide]\nchain = 'laya'",
        "[decide]\nchain = [1]",
        "[decide]\nchian = ['laya']",
        "[decid]\nchain = ['laya']",
        "decide = 3",
        "decide = ",
    ],
)
def test_a_broken_chain_never_becomes_the_automatic_one(load, text: str) -> None:
    loaded = load(text)

    assert loaded.faults
    assert loaded.config.decide.chain == ()


@pytest.mark.parametrize(
    "text", ["threshold = 'high'", "threshold = 2", "treshold = 0.9", "thresholds = {laya = 'x'}"]
)
def test_a_broken_threshold_abstains(load, text: str) -> None:
    assert load(f"[decide]\n{text}").config.decide.threshold == 1.0


@pytest.mark.parametrize(
    "text", ["[plugins]\ndisabled = 'laya'", "[plugins]\ndisable = ['laya']", "[plugin]\nx = 1"]
)
def test_a_broken_list_of_disabled_plugins_disables_all(load, text: str) -> None:
    assert load(text).config.plugins.disabled == ("*",)


def test_a_broken_key_leaves_the_others_of_its_table(load) -> None:
    loaded = load("[decide]\ntimeout_s = 'x'\ndeadline_s = 9\nchain = ['a']")

    assert loaded.config.decide == DecideConfig(deadline_s=9.0, chain=("a",))


@pytest.mark.parametrize("text", ["auth = 'none'", "aut = 'disabled'", "port = true"])
def test_a_broken_http_table_keeps_authentication_and_is_marked(load, text: str) -> None:
    loaded = load(f"[http]\n{text}")

    assert loaded.config.http == HttpConfig()
    assert loaded.config.http.auth == "keys"
    assert "http" in loaded.broken


def test_a_broken_provider_is_dropped_and_the_others_stay(load) -> None:
    loaded = load("[providers.a]\ndialect = 'laya'\ntimeout_s = 'x'\n[providers.b]\n")

    assert list(loaded.config.providers) == ["b"]
    assert {name: table.dialect for name, table in loaded.dropped.items()} == {"a": "laya"}
    assert loaded.faults == ('providers.a.timeout_s: expected a positive number, got "x"',)


def test_an_org_with_a_broken_limit_is_dropped_rather_than_unlimited(load) -> None:
    loaded = load("[orgs.a.limits]\nrpm = 'x'\n[orgs.b]\n")

    assert list(loaded.config.orgs) == ["b"]
    assert loaded.faults == ('orgs.a.limits.rpm: expected a positive whole number, got "x"',)


def test_a_broken_provider_of_an_org_leaves_the_org(load) -> None:
    loaded = load("[orgs.a.providers.x]\napi_key = 'k'\n[orgs.a.providers.y]\n")

    assert list(loaded.config.orgs["a"].providers) == ["y"]
    assert loaded.broken == {"orgs.a.providers.x"}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[providers.'a/b']", "providers.a/b: a name is 1 to 64 letters"),
        ("[providers.a]\n[providers.A]", "providers.A: differs from a in case only"),
        ("providers = 1", "providers: expected a table, got 1"),
        ("[provider.a]", 'provider: unknown key; did you mean "providers"?'),
        ("[orgs.a]\nproviders = 1", "orgs.a.providers: expected a table, got 1"),
    ],
)
def test_names_that_cannot_be_told_apart_are_faults(load, text: str, fault: str) -> None:
    assert fault in load(text).faults[0]


def test_relative_paths_start_at_the_configuration_file(load, tmp_path: Path) -> None:
    loaded = load("[http]\ntls_certificate = 'cert.pem'")

    assert loaded.config.http.tls_certificate == tmp_path / "cert.pem"
