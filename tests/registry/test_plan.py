"""Who is asked, in which order, and that nothing leaves the machine unannounced."""

import pytest

from gateway_core.errors import ConfigError


def reasons(registry) -> dict[str, str]:
    return {found.name: found.reason for found in registry.plan.candidates}


def test_a_fresh_machine_has_the_embedded_engine_alone(make) -> None:
    plan = make().plan

    assert plan.automatic
    assert plan.chain == ("acme-embedded",)
    assert plan.announcement is None


def test_the_automatic_chain_has_a_declared_order(make) -> None:
    registry = make(
        "[providers.acme-embedded]\n"
        "[providers.free]\ndialect = 'acme-keyless'\n"
        "[providers.keyed]\ndialect = 'acme-keyless'\napi_key = { env = 'K' }\n",
        K="k",
        ACME_KEY="k",
    )

    assert registry.plan.chain == ("keyed", "acme", "free", "acme-embedded")


def test_the_first_party_order_follows_from_claims(make) -> None:
    keys = {"OPENAI_API_KEY": "k", "PERPLEXITY_API_KEY": "k", "TYPESAFE_API_KEY": "k"}

    chain = make(disabled="acme", **keys).plan.chain

    assert chain == ("typesafe", "perplexity", "openai-decisions", "local")


def test_each_candidate_left_out_says_why(make) -> None:
    registry = make(
        "[providers.off]\ndialect = 'acme-keyless'\nenabled = false\n"
        "[providers.bad]\ndialect = 'nope'\n"
        "[providers.dropped]\ndialect = 'acme-misspelt'\ntimeout_s = 0\n"
        "[providers.poor]\ndialect = 'acme'\n",
    )

    found = reasons(registry)

    assert registry.plan.chain == ("acme-embedded",)
    assert found["off"] == "enabled = false"
    assert "no dialect 'nope' is installed" in found["bad"]
    assert found["dropped"] == "left out because of its faults"
    assert 'providers.poor: set api_key = { env = "NAME" }' in found["poor"]
    assert found["acme-crashing"] == "it is not configured: add [providers.acme-crashing]"
    assert "s1gw-laya 0.1.0 is disabled" in found["laya"]
    assert "acme" not in found


def test_a_missing_key_is_named(make) -> None:
    assert reasons(make())["acme"] == "ACME_KEY is not set"


@pytest.mark.parametrize(
    "table",
    [
        "[providers.acme]\nenabled = false",
        "[providers.mine]\ndialect = 'acme'\nenabled = false",
        "[providers.acme]\ntimeout_s = 0",
        "[providers.mine]\ndialect = 'acme'\ntimeout_s = 0",
        "[providers.mine]\nbase_url = 'https://api.acme.example'\nenabled = false\nrpm = 0",
        "[providers.'my acme']\nenabled = false",
        "providers = 3",
    ],
)
def test_a_dialect_that_a_table_switches_off_does_not_come_back_by_its_key(make, table) -> None:
    assert make(table, ACME_KEY="k").plan.chain == ("acme-embedded",)


def test_remote_providers_of_an_automatic_chain_are_announced(make) -> None:
    announcement = make("", ACME_KEY="k").plan.announcement

    assert announcement is not None
    assert "acme (api.acme.example)" in announcement
    assert "[decide].chain" in announcement


@pytest.mark.parametrize("host", ["127.0.0.1:9", "localhost:9", "[::1]:9"])
def test_a_server_on_this_machine_is_not_announced(make, host: str) -> None:
    plan = make(f"[providers.free]\ndialect = 'acme-keyless'\nbase_url = 'http://{host}'").plan

    assert plan.chain == ("free", "acme-embedded")
    assert plan.announcement is None


def test_a_configured_chain_is_kept_as_it_is_and_not_announced(make) -> None:
    registry = make("[decide]\nchain = ['acme', 'gone', 'acme-embedded']", ACME_KEY="k")
    plan = registry.plan

    assert not plan.automatic
    assert plan.chain == ("acme", "gone", "acme-embedded")
    assert [found.included for found in plan.candidates] == [True, False, True]
    assert plan.announcement is None
    assert plan.problems == (
        "providers.gone: not configured, and no dialect or vendor of this name is installed",
    )


def test_a_configured_chain_may_name_dialects_and_vendors_that_no_table_speaks_of(make) -> None:
    registry = make(
        "[decide]\nchain = ['typesafe', 'openai', 'laya', 'local']\n"
        "[providers.laya]\nbase_url = 'http://127.0.0.1:9'",
        disabled="acme",
        TYPESAFE_API_KEY="k",
        OPENAI_API_KEY="k",
    )

    assert registry.problems == ()
    assert [found.included for found in registry.plan.candidates] == [True] * 4
    assert registry.provider("openai").dialect == "openai-decisions"


def test_a_configured_chain_reports_a_missing_credential(make) -> None:
    registry = make("[decide]\nchain = ['acme']")

    assert registry.problems == ('providers.acme: set api_key = { env = "NAME" }',)


def test_a_broken_chain_asks_nobody(make) -> None:
    plan = make("[decide]\nchain = 'acme'", ACME_KEY="k").plan

    assert (plan.automatic, plan.chain) == (False, ())


def test_planning_imports_no_dialect_without_its_key(make) -> None:
    import sys

    sys.modules.pop("s1gw_typesafe", None)
    _ = make(disabled="acme").plan

    assert "s1gw_typesafe" not in sys.modules


def test_middlewares_name_does_not_tell_which_provider_a_broken_table_means(make, site) -> None:
    site.distribution("guard", {"gateway_core.middleware.v1": {"guard": "guard:Guard"}})
    registry = make("[providers.guard]\ntimeout_s = 'x'\n", ACME_KEY="acme-key")

    assert "acme" not in registry.plan.chain
    assert "acme" in make("", ACME_KEY="acme-key").plan.chain


THIEF = {
    "gateway_core.providers.v1": {"thief": "acme_plugin:Provider"},
    "gateway_core.claims.v1": {"key.ACME_KEY": "acme_plugin:Provider"},
}


def test_a_key_that_two_plugins_claim_is_given_to_neither(make, site) -> None:
    site.distribution("thief", THIEF)
    registry = make("", ACME_KEY="k")

    assert registry.plan.chain == ("acme-embedded",)
    for dialect in ("acme", "thief"):
        told = reasons(registry)[dialect]
        assert "key 'ACME_KEY' is claimed by acme (acme 1.0) and thief (thief 1.0)" in told


def test_a_table_without_a_key_does_not_get_one_that_two_plugins_claim(make, site) -> None:
    site.distribution("thief", THIEF)

    with pytest.raises(ConfigError, match=r"'ACME_KEY' is claimed by .* write api_key into"):
        make("[providers.acme]", ACME_KEY="k").provider("acme")
    named = make("[providers.acme]\napi_key = { env = 'ACME_KEY' }", ACME_KEY="k")
    assert named.provider("acme").usable


def test_a_key_is_given_when_the_rival_is_disabled_or_the_variable_is_not_set(make, site) -> None:
    site.distribution("thief", THIEF)

    disabled = make("", disabled="thief,local", ACME_KEY="k")
    assert disabled.plan.chain[0] == "acme"
    assert reasons(make())["acme"] == "ACME_KEY is not set"
