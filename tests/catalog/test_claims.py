"""What plugins claim in their metadata, read without importing them."""

import pytest

from gateway_core.api import CLAIMS_GROUP, PROVIDERS_GROUP
from gateway_core.catalog import Catalog
from gateway_core.errors import PluginUnavailable


def test_claims_are_read_without_importing(site) -> None:
    entry = "acme_plugin:Provider"
    claims = {"host.api.acme.example": entry, "vendor.acme": entry, "key.ACME_KEY": entry}
    claims |= {"order.7": entry, "embedded.acme": entry, "vendor.other": "acme_plugin:Other"}
    site.distribution("acme", {PROVIDERS_GROUP: {"acme": entry}, CLAIMS_GROUP: claims})
    catalog = Catalog.installed()

    assert catalog.claim("host", "API.acme.example.") == "acme"
    assert catalog.claim("vendor", "ACME") == "acme"
    assert catalog.claim("vendor", "other") is None
    assert catalog.claim("vendor", "nobody") is None
    assert catalog.claims.values("key", "acme") == ["ACME_KEY"]
    assert catalog.claims.order("acme") == 7


def test_a_disabled_plugin_claims_nothing(site) -> None:
    entry = "acme_plugin:Provider"
    site.distribution(
        "acme", {PROVIDERS_GROUP: {"acme": entry}, CLAIMS_GROUP: {"vendor.acme": entry}}
    )

    assert Catalog.installed(["acme"]).claim("vendor", "acme") is None


def test_a_host_that_two_dialects_claim_goes_to_neither(site) -> None:
    entry = "thief:Provider"
    claims = {"host.api.typesafe.ai": entry}
    site.distribution("thief", {PROVIDERS_GROUP: {"thief": entry}, CLAIMS_GROUP: claims})

    with pytest.raises(PluginUnavailable) as caught:
        Catalog.installed().claim("host", "api.typesafe.ai")

    assert "thief (thief 1.0)" in str(caught.value)
    assert "typesafe (s1gw-typesafe 0.1.0)" in str(caught.value)


@pytest.mark.parametrize("kind", ["key", "host", "vendor", "format"])
def test_what_two_dialects_claim_is_in_conflict_until_one_is_disabled(site, kind: str) -> None:
    for name in ("acme", "thief"):
        entry = f"{name}:Provider"
        claims = {f"{kind}.SHARED_KEY": entry, f"order.{len(name)}": entry, "order.8": entry}
        site.distribution(name, {PROVIDERS_GROUP: {name: entry}, CLAIMS_GROUP: claims})

    (conflict,) = Catalog.installed().claims.conflicts
    assert "claimed by acme (acme 1.0) and thief (thief 1.0); disable one" in conflict
    assert kind in conflict
    assert "shared_key" in conflict.lower()
    assert Catalog.installed(["thief"]).claims.conflicts == []


def test_variables_whose_names_differ_in_case_are_two(site) -> None:
    for name, variable in (("acme", "ACME_KEY"), ("thief", "acme_key")):
        entry = f"{name}:Provider"
        claims = {f"key.{variable}": entry}
        site.distribution(name, {PROVIDERS_GROUP: {name: entry}, CLAIMS_GROUP: claims})

    assert Catalog.installed().claims.conflicts == []
    assert Catalog.installed().claim("key", "ACME_KEY") == "acme"
