"""Named providers are built on use, from their own table, with their own credential alone."""

import gc
import sys

import pytest

from gateway_core.errors import ConfigError, PluginUnavailable
from gateway_core.secret import Secret


def test_nothing_is_imported_before_a_provider_is_asked_for(make) -> None:
    registry = make("[providers.acme]\n[orgs.o.providers.acme]\n")

    assert "acme_plugin" not in sys.modules
    registry.provider("acme")
    assert "acme_plugin" in sys.modules


def test_a_provider_is_built_once(make) -> None:
    registry = make("[providers.acme]\n")

    assert registry.provider("acme") is registry.provider("acme")


def test_two_providers_of_one_dialect_coexist(make) -> None:
    registry = make(
        "[providers.eu]\ndialect = 'acme'\nbase_url = 'https://eu.example'\nmodels = ['m']\n"
        "api_key = { env = 'EU' }\n"
        "[providers.us]\ndialect = 'acme'\nbase_url = 'https://us.example'\ntimeout_s = 3\n",
        EU="eu-key",
    )
    eu, us = registry.provider("eu"), registry.provider("us")

    assert (eu.endpoint.base_url, us.endpoint.base_url) == (
        "https://eu.example",
        "https://us.example",
    )
    assert (eu.endpoint.api_key, us.endpoint.api_key) == (Secret("eu-key"), None)
    assert (eu.endpoint.models, us.endpoint.models) == (("m",), ("acme-1",))
    assert us.endpoint.timeout_s == 3.0


@pytest.mark.parametrize(
    ("table", "dialect"),
    [
        ("[providers.x]\ndialect = 'acme'", "acme"),
        ("[providers.x]\napi_format = 'systemone'\nbase_url = 'https://API.acme.example.'", "acme"),
        (
            "[providers.x]\napi_format = 'typesafe'\nbase_url = 'https://api.acme.example:443/v1'",
            "acme",
        ),
        ("[providers.ACME]\napi_format = 'systemone'\nbase_url = 'https://x.example'", "acme"),
        (
            "[providers.x]\napi_format = 'systemone'\nbase_url = 'https://x.example'",
            "generic-systemone",
        ),
        (
            "[providers.x]\napi_format = 'typesafe'\nbase_url = 'https://x.example'",
            "generic-systemone",
        ),
        (
            "[providers.x]\napi_format = 'openai'\nbase_url = 'https://x.example'",
            "openai-decisions",
        ),
        (
            "[providers.typesafe]\napi_format = 'systemone'\nbase_url = 'https://api.perplexity.ai'",
            "perplexity",
        ),
        ("[providers.perplexity]\napi_format = 'systemone'", "perplexity"),
        ("[providers.laya]", "laya"),
    ],
)
def test_the_dialect_follows_from_the_table(make, table: str, dialect: str) -> None:
    registry = make(table, disabled="")
    (name,) = registry.loaded.config.providers

    assert registry.provider(name).dialect == dialect


@pytest.mark.parametrize(
    ("text", "name", "reason"),
    [
        ("", "nobody", "providers.nobody: not configured, and no dialect or vendor"),
        ("[providers.x]", "x", "providers.x: no installed plugin offers the dialect 'x': install"),
        ("[providers.x]", "x", 'or remove the table, or set dialect, or api_format = "systemone"'),
        (
            "[providers.x]\ndialect = 'acm'",
            "x",
            "no dialect 'acm' is installed; did you mean 'acme'",
        ),
        ("[providers.x]\napi_format = 'openai'", "x", "no installed provider serves the format"),
        ("[providers.acme]\nenabled = false", "acme", "providers.acme: not enabled"),
        (
            "[providers.acme]\ntimeout_s = 0",
            "acme",
            "providers.acme.timeout_s: expected a positive",
        ),
        (
            "[providers.acme]\nsettings.regio = 'x'",
            "acme",
            "acme.settings.regio: unknown key; did you",
        ),
        (
            "[providers.acme]\nsettings.token = 'hunter2'",
            "acme",
            "settings.token: a secret is never",
        ),
        ("", "acme-misspelt", "unknown hook 'decyde'"),
        ("", "acme-crashing", "Crashing raised ValueError"),
        ("", "laya", "s1gw-laya 0.1.0 is disabled"),
    ],
)
def test_what_cannot_be_built_says_why_and_where(make, text: str, name: str, reason: str) -> None:
    registry = make(text)

    for _ in range(2):
        with pytest.raises(ConfigError) as caught:
            registry.provider(name)
        assert reason in str(caught.value)
    assert "secret inside" not in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert registry.provider("acme-keyless")


def test_a_kept_fault_does_not_gather_frames(make) -> None:
    registry = make()
    for _ in range(50):
        with pytest.raises(ConfigError):
            registry.provider("nobody")
    gc.collect()

    assert registry._built["providers.nobody"].__traceback__ is None or (
        registry._built["providers.nobody"].__traceback__.tb_next is None
    )


def test_settings_take_their_credentials_from_the_same_environment(make) -> None:
    registry = make("[providers.acme]\nsettings = { token = { env = 'TOKEN' } }", TOKEN="t")

    assert registry.provider("acme")


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ("", Secret("usual")),
        ("[providers.acme]", Secret("usual")),
        ("[providers.acme]\nbase_url = 'https://api.acme.example'", Secret("usual")),
        ("[providers.acme]\nbase_url = 'https://elsewhere.example'", None),
        ("[providers.acme]\napi_key = { env = 'OTHER' }", Secret("other")),
    ],
)
def test_the_usual_credential_goes_to_the_dialects_home_alone(make, table: str, key) -> None:
    registry = make(table, ACME_KEY="usual", OTHER="other")

    assert registry.provider("acme").endpoint.api_key == key


def test_an_org_gets_its_own_credentials_and_never_the_operators(make) -> None:
    registry = make(
        "[providers.acme]\napi_key = { env = 'OPERATOR' }\n"
        "[orgs.one.providers.acme]\napi_key = { env = 'ONE' }\n"
        "[orgs.two.providers.acme]\n",
        OPERATOR="operator",
        ONE="one",
        ACME_KEY="usual",
    )

    assert registry.org_provider("one", "acme").endpoint.api_key == Secret("one")
    assert registry.org_provider("two", "acme").endpoint.api_key is None
    assert registry.org_provider("one", "acme") is registry.org_provider("one", "acme")


@pytest.mark.parametrize(
    ("org", "provider_id"), [("none", "acme"), ("one", "acme"), ("one", "off")]
)
def test_an_org_has_no_provider_that_its_table_does_not_enable(make, org, provider_id) -> None:
    registry = make(
        "[providers.acme]\n[orgs.one.providers.off]\ndialect = 'acme'\nenabled = false\n"
    )

    with pytest.raises(ConfigError, match=f"orgs.{org}.providers.{provider_id}: not"):
        registry.org_provider(org, provider_id)


def test_a_vendors_provider_has_no_credential_and_is_at_home(make) -> None:
    registry = make("[providers.acme]\napi_key = { env = 'K' }\n", K="k", ACME_KEY="usual")
    provider = registry.vendor_provider("acme")

    assert provider.endpoint.api_key is None
    assert provider.endpoint.base_url == "https://api.acme.example"
    with pytest.raises(ConfigError, match="no installed provider serves this vendor"):
        registry.vendor_provider("nobody")


def test_every_problem_is_listed_and_stops_nothing(make) -> None:
    registry = make(
        "[decide]\ntimeout_s = 'x'\nchain = ['acme', 'gone']\n"
        "[plugins]\ndisabled = ['nothing-so-named', 'laya']\n"
        "[providers.acme]\napi_key = { env = 'K' }\n"
        "[providers.b]\ndialect = 'laya'\n[providers.c]\ndialect = 'nope'\n"
        "[orgs.o.providers.d]\ndialect = 'nope2'\n",
        disabled="",
        K="k",
    )

    assert [line.partition(": ")[0] for line in registry.problems] == [
        "decide.timeout_s",
        "providers.b",
        "providers.c",
        "orgs.o.providers.d",
        "plugins.disabled",
        "providers.gone",
    ]
    assert registry.provider("acme")


def test_a_host_claimed_twice_is_a_fault_rather_than_a_guess(make, site) -> None:
    entry = "thief:Provider"
    claims = {"host.api.acme.example": entry}
    site.distribution(
        "thief", {"gateway_core.providers.v1": {"thief": entry}, "gateway_core.claims.v1": claims}
    )
    registry = make(
        "[orgs.o.providers.x]\napi_format = 'systemone'\nbase_url = 'https://api.acme.example'"
    )

    with pytest.raises(PluginUnavailable, match=r"is claimed by acme .* and thief "):
        registry.org_provider("o", "x")
