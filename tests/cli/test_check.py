"""``s1gw config check``: what a start or a first request would meet without a network."""

import json

import pytest

PRIVATE = 'api_format = "systemone"\nbase_url = "http://10.0.0.8"\nmodels = ["m"]'
REFUSED = {
    "a certificate without a key": ("[http]\ntls_certificate = 'cert.pem'", "http.tls_"),
    "a certificate that is not there": (
        "[http]\ntls_certificate = 'none.pem'\ntls_key = 'none-key.pem'",
        "http.tls_certificate",
    ),
    "everybody is the operator": ("[http]\nauth = 'disabled'\nhost = '0.0.0.0'", "http.host"),
    "a store that is no URL": ("[http]\nlimits_store = { env = 'STORE' }", "http.limits_store"),
    "no host at all": ("[http]\nhost = ''", "http.host"),
    "a dot": ("[http]\nhost = '.'", "http.host"),
    "a host with a port": ("[http]\nhost = 'localhost:8080'", "http.host"),
    "an address in brackets": ("[http]\nhost = '[::1]'", "http.host"),
    "a URL for a host": ("[http]\nhost = 'http://localhost'", "http.host"),
    "a label that is too long": (f"[http]\nhost = '{'a' * 64}.example'", "http.host"),
    "a socket in no folder": ("[http]\nuds = 'gone/s1gw.sock'", "http.uds"),
    "a socket's place that is a file": ("[http]\nuds = 'config.toml'", "http.uds"),
    "a socket's path that is too long": (f"[http]\nuds = '{'a' * 108}'", "http.uds"),
    "a key that is none": ("[http]\nport = 'many'", "http.port"),
}
FAILS = {
    "no credential": (
        "[orgs.o.providers.p]\ndialect = 'typesafe'\nmodels = ['m']",
        "orgs.o.providers.p:",
    ),
    "no credential of the operator's": ("[providers.p]\ndialect = 'typesafe'", "providers.p:"),
    "a credential that is not there": (
        "[orgs.o.providers.p]\ndialect = 'typesafe'\nmodels = ['m']\napi_key = { env = 'GONE' }",
        "orgs.o.providers.p.api_key:",
    ),
    "a private address": (f"[orgs.o.providers.p]\n{PRIVATE}", "orgs.o.providers.p.base_url:"),
    "this machine by name": (
        f"[orgs.o]\nallow_private = true\n[orgs.o.providers.p]\n{PRIVATE}".replace(
            "10.0.0.8", "localhost:9"
        ),
        "orgs.o.providers.p.base_url:",
    ),
    "the name of a metadata service": (
        f"[orgs.o.providers.p]\n{PRIVATE}".replace("10.0.0.8", "metadata.google.internal"),
        "orgs.o.providers.p.base_url:",
    ),
    "no models": (
        "[orgs.o.providers.p]\napi_format = 'systemone'\nbase_url = 'https://x.example'",
        "orgs.o.providers.p.models:",
    ),
    "a shadow without a log": ("[decision_log]\nshadow = ['local']", "decision_log.shadow:"),
    "a log in place of a folder": (
        "[decision_log]\nenabled = true\npath = '.'",
        "decision_log.path:",
    ),
    "a log below a file": (
        "[decision_log]\nenabled = true\npath = 'config.toml/log'",
        "decision_log.path:",
    ),
}


def faults(run, *options: str) -> list[str]:
    found = run("config", "check", "--json", *options)
    return [] if found.exit_code == 0 else json.loads(found.stdout)["faults"]


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORE", "redis//never-show-this")


@pytest.mark.parametrize(("text", "key"), REFUSED.values(), ids=REFUSED)
def test_what_a_start_refuses_is_a_fault(run, write_config, store, text: str, key: str) -> None:
    write_config(f"{text}\n")
    found = faults(run)
    started = run("serve", "--http")

    assert started.exit_code == 1
    assert isinstance(started.exception, SystemExit), started.exception
    assert [line for line in found if line.startswith(key)]
    assert "never-show-this" not in str(found)


@pytest.mark.parametrize(("text", "key"), FAILS.values(), ids=FAILS)
def test_what_would_fail_the_first_request_is_a_fault(run, write_config, text, key) -> None:
    write_config(f"{text}\n")
    found = faults(run)
    assert [line for line in found if line.startswith(key)], found


def test_a_private_address_that_is_allowed_is_none(run, write_config) -> None:
    write_config(f"[orgs.o]\nallow_private = true\n[orgs.o.providers.p]\n{PRIVATE}\n")
    assert faults(run) == []


def test_a_fault_of_an_included_file_names_that_file(run, write_config) -> None:
    path = write_config("include = ['team.toml']\n")
    (path.parent / "team.toml").write_text(f"[orgs.o.providers.p]\n{PRIVATE}\nprefix = 3\n")
    assert [line.rpartition(": ")[0] for line in faults(run)] == [
        "team.toml: orgs.o.providers.p.prefix"
    ]
    (path.parent / "team.toml").write_text(f"[orgs.o.providers.p]\n{PRIVATE}\n")
    (fault,) = faults(run)
    assert fault.startswith("team.toml: orgs.o.providers.p.base_url: ")


def test_all_faults_of_the_server_are_told_at_once(run, write_config, store) -> None:
    write_config(
        "[http]\nauth = 'disabled'\nhost = '0.0.0.0'\ntls_key = 'k'\n"
        "limits_store = { env = 'STORE' }\n"
    )
    assert len(faults(run)) == 3
    assert len(run("serve", "--http").stderr.splitlines()) == 3


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "http_proxy", "SSL_CERT_FILE"])
def test_an_environment_that_no_request_gets_out_of_is_a_fault(
    run, write_config, monkeypatch, name: str
) -> None:
    monkeypatch.setenv(name, "ftp://never-show-this")
    write_config("[decide]\nchain = ['local']\n")
    (line,) = faults(run)
    assert name in line
    assert "never-show-this" not in line


def test_a_key_file_that_cannot_be_read_is_a_fault(run, write_config, home, monkeypatch) -> None:
    monkeypatch.setenv("S1GW_STATE_DIR", str(home))
    (home / "keys.json").write_text("{")
    write_config("[http]\nport = 8081\n")
    assert "key file" in faults(run)[0]


def test_strict_start_refuses_what_would_fail_the_first_request(
    run, write_config, monkeypatch
) -> None:
    monkeypatch.setenv("S1GW_STRICT_PLUGINS", "1")
    write_config(f"[orgs.o.providers.p]\n{PRIVATE}\n")
    assert "orgs.o.providers.p.base_url" in str(run("health").stderr)


CI = """
[http]
tls_certificate = "cert.pem"
tls_key = "key.pem"
limits_store = { env = "STORE" }
[providers.typesafe]
[orgs.o.providers.p]
dialect = "typesafe"
models = ["m"]
api_key = { file = "gone.key" }
headers = { x-token = { env = "TOKEN" } }
"""


def test_without_secrets_only_their_places_are_checked(run, write_config) -> None:
    write_config(CI)
    assert len(faults(run)) >= 4
    assert faults(run, "--no-secrets") == []


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("api_key = 'sk-written-out'", "orgs.o.providers.q.api_key"),
        ("api_key = { env = 1 }", "orgs.o.providers.q.api_key"),
        ("dialect = 'typesafe'", "orgs.o.providers.q:"),
    ],
)
def test_without_secrets_the_rest_is_checked_all_the_same(
    run, write_config, line: str, key: str
) -> None:
    write_config(f"{CI}[orgs.o.providers.q]\nmodels = ['m']\n{line}\n")
    (fault,) = faults(run, "--no-secrets")
    assert fault.startswith(key)


def test_a_note_counts_where_it_is_to_be_strict(run, write_config, monkeypatch) -> None:
    write_config("[http]\nport = 8081\n")
    found = run("config", "check")
    assert (found.exit_code, "no organization has a provider" in found.stderr) == (0, True)
    assert run("config", "check", "--strict").exit_code == 1
    monkeypatch.setenv("S1GW_STRICT_PLUGINS", "1")
    assert run("config", "check").exit_code == 1
