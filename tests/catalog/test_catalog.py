"""Plugins are found by metadata, imported on use, and never stop each other."""

import subprocess
import sys

import pytest

from gateway_core.catalog import Catalog, PluginKind, PluginRef, PluginState
from gateway_core.errors import PluginUnavailable

PROVIDERS = "gateway_core.providers.v1"
MIDDLEWARE = "gateway_core.middleware.v1"
FIRST_PARTY = {"generic-systemone", "laya", "local", "openai-decisions", "perplexity", "typesafe"}


def ref_of(catalog: Catalog, dialect: str, distribution: str | None = None) -> PluginRef:
    (found,) = [
        ref
        for ref in catalog.refs
        if ref.name == dialect and distribution in (None, ref.distribution)
    ]
    return found


def test_the_installed_plugins_are_listed_with_distribution_and_version() -> None:
    refs = {ref.name: ref for ref in Catalog.installed().refs}

    assert refs.keys() >= FIRST_PARTY
    assert refs["laya"].distribution == "s1gw-laya"
    assert refs["laya"].version == "0.1.0"
    assert refs["laya"].state is PluginState.AVAILABLE


def test_listing_imports_no_plugin(site) -> None:
    site.module("acme_plugin", "raise RuntimeError('imported')")
    site.distribution("acme", {PROVIDERS: {"acme": "acme_plugin:Provider"}})

    ref = ref_of(Catalog.installed(), "acme")

    assert (ref.state, ref.homepage) == (PluginState.AVAILABLE, "https://example.com/acme")
    assert "acme_plugin" not in sys.modules


def test_loading_imports_one_plugin_once(site) -> None:
    site.module("acme_plugin", "class Provider: pass")
    site.distribution("acme", {PROVIDERS: {"acme": "acme_plugin:Provider"}})
    catalog = Catalog.installed()

    assert catalog.load("acme") is catalog.load("acme")
    assert ref_of(catalog, "acme").state is PluginState.LOADED


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import no_such_module_anywhere", "ModuleNotFoundError: No module named"),
        ("raise ValueError('sk-secret')", "importing it raised ValueError"),
        ("import sys; sys.exit(3)", "importing it raised SystemExit"),
        ("class Panic(BaseException): ...\nraise Panic", "importing it raised Panic"),
        ("x = 1", "AttributeError"),
        ("Provider = 3", "acme_plugin:Provider is not a class"),
        ("def broken(:", "SyntaxError"),
    ],
)
def test_a_plugin_that_breaks_on_import_is_reported_with_its_version(
    site, source: str, reason: str
) -> None:
    site.module("acme_plugin", source)
    site.distribution("acme", {PROVIDERS: {"acme": "acme_plugin:Provider"}}, version="2.1")
    catalog = Catalog.installed()

    with pytest.raises(PluginUnavailable) as caught:
        catalog.load("acme")

    assert "dialect 'acme': acme 2.1: " in str(caught.value)
    assert reason in str(caught.value)
    assert "sk-secret" not in str(caught.value)
    assert ref_of(catalog, "acme").state is PluginState.BROKEN
    assert ref_of(catalog, "laya").state is PluginState.AVAILABLE
    assert catalog.load("generic-systemone")


def test_a_broken_plugin_is_not_imported_again(site, capsys) -> None:
    site.module("acme_plugin", "print('imported')\nraise ValueError")
    site.distribution("acme", {PROVIDERS: {"acme": "acme_plugin:Provider"}})
    catalog = Catalog.installed()

    for _ in range(2):
        with pytest.raises(PluginUnavailable, match="ValueError"):
            catalog.load("acme")

    assert capsys.readouterr().err.count("imported") == 1


@pytest.mark.parametrize("name", ["acme", "Acme_Provider", "acme-provider", "*"])
def test_a_disabled_plugin_is_never_imported(site, name: str) -> None:
    site.module("acme_plugin", "raise RuntimeError('imported')")
    site.distribution("acme.provider", {PROVIDERS: {"acme": "acme_plugin:Provider"}})
    catalog = Catalog.installed([name])

    with pytest.raises(PluginUnavailable, match=r"acme\.provider 1\.0 is disabled"):
        catalog.load("acme")

    assert ref_of(catalog, "acme").state is PluginState.DISABLED
    assert "acme_plugin" not in sys.modules
    assert catalog.unknown_disabled == []


def test_a_disabled_name_that_is_not_installed_is_remembered() -> None:
    assert Catalog.installed(["laya", "lya"]).unknown_disabled == ["lya"]


def test_two_distributions_with_one_name_are_a_conflict_that_names_both(site) -> None:
    for name in ("acme-one", "acme-two"):
        site.distribution(name, {PROVIDERS: {"acme": "nowhere:Provider"}})
    catalog = Catalog.installed()

    with pytest.raises(PluginUnavailable, match=r"acme-one 1\.0 and acme-two 1\.0"):
        catalog.load("acme")

    assert [ref.state for ref in catalog.refs if ref.name == "acme"] == [PluginState.CONFLICT] * 2


def test_disabling_one_distribution_ends_a_conflict(site) -> None:
    site.module("acme_plugin", "class Provider: pass")
    for name in ("acme-one", "acme-two"):
        site.distribution(name, {PROVIDERS: {"acme": "acme_plugin:Provider"}})
    catalog = Catalog.installed(["acme-two"])

    assert catalog.load("acme").__name__ == "Provider"
    assert ref_of(catalog, "acme", "acme-one").state is PluginState.LOADED


def test_a_plugin_for_another_api_version_is_incompatible(site) -> None:
    site.distribution("acme", {"gateway_core.providers.v2": {"acme": "nowhere:Provider"}})
    catalog = Catalog.installed()

    with pytest.raises(PluginUnavailable, match=r"acme 1\.0 is written for plugin API v2"):
        catalog.load("acme")

    assert ref_of(catalog, "acme").state is PluginState.INCOMPATIBLE


def test_a_plugin_for_two_api_versions_is_used_in_ours(site) -> None:
    site.module("acme_plugin", "class One: pass\nclass Two: pass")
    groups = {PROVIDERS: {"acme": "acme_plugin:One"}}
    groups["gateway_core.providers.v2"] = {"acme": "acme_plugin:Two"}
    site.distribution("acme", groups)

    assert Catalog.installed().load("acme").__name__ == "One"


def test_a_distribution_found_twice_counts_once(site, tmp_path, monkeypatch) -> None:
    site.distribution("acme", {PROVIDERS: {"acme": "nowhere:Provider"}})
    again = tmp_path / "again"
    again.mkdir()
    (again / "acme.egg-info").mkdir()
    (again / "acme.egg-info" / "PKG-INFO").write_text("Name: acme\nVersion: 1.0\n")
    (again / "acme.egg-info" / "entry_points.txt").write_text(f"[{PROVIDERS}]\nacme = nowhere:P\n")
    monkeypatch.syspath_prepend(str(again))

    assert [ref.state for ref in Catalog.installed().refs if ref.name == "acme"] == [
        PluginState.AVAILABLE
    ]


def test_metadata_left_over_by_a_broken_uninstall_do_no_harm(site) -> None:
    info = site.folder / "gone-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text(f"[{PROVIDERS}]\ngone = nowhere:Provider\n")

    assert ref_of(Catalog.installed(), "gone").version == "unknown"


@pytest.mark.parametrize("described", [None, "Version: 2.0\n", "Name: \nVersion: 2.0\n"])
def test_a_distribution_without_a_name_is_named_by_its_path(site, described: str | None) -> None:
    for folder in ("one-2.0.dist-info", "two-2.0.dist-info"):
        info = site.folder / folder
        info.mkdir()
        if described is not None:
            (info / "METADATA").write_text(described)
        (info / "entry_points.txt").write_text(f"[{PROVIDERS}]\nnameless = nowhere:Provider\n")

    found = [ref for ref in Catalog.installed().refs if ref.name == "nameless"]
    places = {str(site.folder / folder) for folder in ("one-2.0.dist-info", "two-2.0.dist-info")}
    assert {ref.distribution for ref in found} == places
    assert {ref.state for ref in found} == {PluginState.CONFLICT}
    assert all(place in found[0].detail for place in places)


@pytest.mark.parametrize(
    "damage",
    [
        f"[{PROVIDERS}]\nno sign of equality\n".encode(),
        f"[{PROVIDERS}]\n\xff = nowhere:Provider\n".encode("latin-1"),
        f"no section\n[{PROVIDERS}]\n".encode(),
        None,
    ],
)
def test_entry_points_that_cannot_be_read_spoil_no_others(site, damage: bytes | None) -> None:
    info = site.folder / "damaged-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: damaged\nVersion: 1.0\n")
    if damage is None:
        (info / "entry_points.txt").symlink_to("entry_points.txt")
    else:
        (info / "entry_points.txt").write_bytes(damage)
    site.distribution("acme", {PROVIDERS: {"acme": "nowhere:Provider"}})
    refs = Catalog.installed().refs

    assert {"acme", *FIRST_PARTY} <= {ref.name for ref in refs}
    assert "damaged" not in {ref.distribution for ref in refs}


def test_metadata_in_another_encoding_do_no_harm(site) -> None:
    info = site.folder / "latin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_bytes("Name: l\xe4tin\nVersion: 1.0\n".encode("latin-1"))
    (info / "entry_points.txt").write_text(f"[{PROVIDERS}]\nlatin = nowhere:Provider\n")

    assert ref_of(Catalog.installed(), "latin").state is PluginState.AVAILABLE


def test_the_order_does_not_depend_on_the_disk(site) -> None:
    for name in ("zebra", "acme", "middle"):
        site.distribution(name, {PROVIDERS: {name: "nowhere:Provider"}})
    refs = Catalog.installed().refs
    names = [ref.name for ref in refs if ref.kind is PluginKind.PROVIDER]

    assert names == sorted(names)
    assert {"zebra", "acme", "middle"} <= set(names)


def test_an_unknown_dialect_is_answered_with_the_nearest() -> None:
    with pytest.raises(PluginUnavailable, match="did you mean 'typesafe'"):
        Catalog.installed().load("tpesafe")


def test_middleware_is_listed_and_loaded_beside_providers(site) -> None:
    site.module("acme_plugin", "class Cache: pass")
    site.distribution("acme", {MIDDLEWARE: {"laya": "acme_plugin:Cache"}})
    catalog = Catalog.installed()

    assert catalog.load("laya", PluginKind.MIDDLEWARE).__name__ == "Cache"
    assert catalog.refs[-1].kind is PluginKind.MIDDLEWARE
    assert ref_of(catalog, "laya", "s1gw-laya").state is PluginState.AVAILABLE


def test_what_a_plugin_prints_while_imported_goes_to_stderr(site) -> None:
    site.module("acme_plugin", "print('hello from acme')\nclass Provider: pass")
    site.distribution("acme", {PROVIDERS: {"acme": "acme_plugin:Provider"}})
    program = "from gateway_core.catalog import Catalog; Catalog.installed().load('acme')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(site.folder)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == ""
    assert "hello from acme" in done.stderr


@pytest.mark.parametrize(
    "requirement",
    [
        "s1gw>=99",
        "s1gw<0.3,>=0.2",
        "S1GW (>=0.2)",
        "s1gw [testing] ~=9.1",
        "s1gw!=0.1.0",
        "s1gw==2",
    ],
)
def test_a_plugin_that_requires_another_gateway_is_incompatible(site, requirement: str) -> None:
    site.module("acme_plugin", "class Provider: pass")
    site.distribution("acme", {PROVIDERS: {"acme": "acme_plugin:Provider"}}, requires=[requirement])
    catalog = Catalog.installed()

    assert "acme" not in catalog.available()
    with pytest.raises(PluginUnavailable, match=r"acme 1\.0 requires s1gw .*this is 0\.1\.0"):
        catalog.load("acme")
    assert ref_of(catalog, "acme").state is PluginState.INCOMPATIBLE
    assert "acme_plugin" not in sys.modules


@pytest.mark.parametrize(
    "requirement",
    [
        "s1gw",
        "s1gw>=0.1,<0.2",
        "s1gw>=0.0.9",
        "s1gw-local>=99",
        "s1gwx>=99",
        "s1gw>=99; extra == 'next'",
        "s1gw>=no-version",
    ],
)
def test_a_plugin_that_this_gateway_suits_is_available(site, requirement: str) -> None:
    site.module("acme_plugin", "class Provider: pass")
    site.distribution("acme", {PROVIDERS: {"acme": "acme_plugin:Provider"}}, requires=[requirement])

    assert Catalog.installed().load("acme").__name__ == "Provider"


def test_what_is_not_installed_is_told_with_the_way_out(site) -> None:
    with pytest.raises(PluginUnavailable, match="install its plugin, or remove what names it"):
        Catalog.installed().load("acme")


def test_a_plugin_that_crashes_on_import_is_located(site) -> None:
    site.module("acme_plugin", "import json\n\njson.loads('sk-secret')\n")
    site.distribution("acme", {PROVIDERS: {"acme": "acme_plugin:Provider"}})

    with pytest.raises(
        PluginUnavailable, match=r"JSONDecodeError at acme_plugin\.py, line 3"
    ) as it:
        Catalog.installed().load("acme")
    assert "sk-secret" not in str(it.value)
