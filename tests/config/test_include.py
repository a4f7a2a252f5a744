"""Organizations in files of their own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gateway_core.config.load import Loaded, load_config

Load = Callable[..., Loaded]
ACME = "[orgs.acme.providers.own]\napi_format = 'systemone'\nbase_url = 'https://a.example'\n"


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Write files, and load the one that includes the others."""

    def write(main: str = "include = ['orgs.d/*.toml']\n", /, **files: str) -> Loaded:
        (tmp_path / "orgs.d").mkdir(exist_ok=True)
        for name, text in files.items():
            (tmp_path / "orgs.d" / f"{name}.toml").write_text(text)
        (tmp_path / "config.toml").write_text(main)
        return load_config(tmp_path / "config.toml", {"KEY": "sk"})

    return write


def test_organizations_come_from_all_files_in_the_order_of_their_names(load: Load) -> None:
    loaded = load(b="[orgs.beta]\n", a=ACME, c="")

    assert loaded.faults == ()
    assert list(loaded.config.orgs) == ["acme", "beta"]
    assert list(loaded.config.orgs["acme"].providers) == ["own"]


def test_those_of_the_file_itself_come_first(load: Load) -> None:
    loaded = load("include = ['orgs.d/*.toml']\n[orgs.zeta]\n", a=ACME)
    assert list(loaded.config.orgs) == ["zeta", "acme"]


def test_a_fault_names_its_file_and_its_path(load: Load) -> None:
    loaded = load(a="[orgs.acme.limits]\nrpm = 'x'\n[orgs.acme.providers.p]\nprefx = ''\n")

    assert sorted(line.rpartition(": ")[0] for line in loaded.faults) == [
        "orgs.d/a.toml: orgs.acme.limits.rpm",
        "orgs.d/a.toml: orgs.acme.providers.p.prefx",
    ]
    assert "acme" not in loaded.config.orgs


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[orgs", "is not TOML"),
        ("[http]\nport = 1", "http: an included file holds [orgs.NAME] alone"),
        ("include = ['x']", "include: an included file holds"),
        ("orgs = 3", "orgs: expected a table"),
        ("[orgs.'a b']", "orgs.a b: a name is"),
        ("[orgs]\nacme = 3", "orgs.acme: expected a table"),
    ],
)
def test_what_is_wrong_with_a_file_leaves_the_others(load: Load, text: str, fault: str) -> None:
    loaded = load(a=text, b="[orgs.beta]\n")

    (line,) = loaded.faults
    assert "orgs.d/a.toml: " in line
    assert fault in line
    assert list(loaded.config.orgs) == ["beta"]


def test_nothing_but_organizations_is_taken_from_an_included_file(load: Load) -> None:
    loaded = load(a="[http]\nauth = 'disabled'\n[providers.x]\ndialect = 'laya'\n")
    assert (loaded.config.http.auth, dict(loaded.config.providers)) == ("keys", {})


@pytest.mark.parametrize("main", ["", "[orgs.acme]\n"])
def test_an_organization_in_two_files_is_in_none(load: Load, main: str) -> None:
    second = {} if main else {"b": "[orgs.acme]\nallow_private = true\n"}
    loaded = load(f"include = ['orgs.d/*.toml']\n{main}", a=ACME, **second)

    (line,) = loaded.faults
    assert "orgs.acme: stands in " in line
    assert loaded.config.orgs == {}


def test_a_pattern_may_match_nothing_and_a_path_may_not(load: Load, tmp_path: Path) -> None:
    assert load().faults == ()
    (line,) = load("include = ['gone.toml']\n").faults
    assert line == f"{tmp_path}/gone.toml: there is no such file"


@pytest.mark.parametrize("value", ["'orgs.d/*.toml'", "[3]", "['']", "['a', 'a']"])
def test_a_broken_list_of_files_is_a_fault(load: Load, value: str) -> None:
    (line,) = load(f"include = {value}\n").faults
    assert line.startswith("include")


def test_what_was_looked_at_is_known_for_a_reload(load: Load, tmp_path: Path) -> None:
    loaded = load(a=ACME, b="[orgs")
    folder = tmp_path / "orgs.d"
    assert set(loaded.included) == {folder, folder / "a.toml", folder / "b.toml"}


def test_relative_paths_start_at_the_main_files_folder(load: Load, tmp_path: Path) -> None:
    (tmp_path / "acme.key").write_text("sk-1\n")
    loaded = load(a=f"{ACME}api_key = {{ file = 'acme.key' }}\n")
    assert loaded.faults == ()
