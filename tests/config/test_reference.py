"""What is written about the configuration is true of the code."""

import re
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import attrs
import jsonschema
import pytest

from gateway_core.config.display import as_tables
from gateway_core.config.load import load_config
from gateway_core.config.model import Config
from gateway_core.config.reference import keys_of, summary_of
from gateway_core.config.schema import config_schema
from gateway_core.config.sections import SECTIONS, TABLES
from gateway_core.config.starter import starter

ROOT = Path(__file__).parents[2]


def test_the_configuration_page_is_current() -> None:
    spec = spec_from_file_location("configuration_page", ROOT / "scripts/configuration_page.py")
    assert spec is not None
    assert spec.loader is not None
    page = module_from_spec(spec)
    spec.loader.exec_module(page)

    written = (ROOT / "docs/configuration.md").read_text()

    assert written == page.render(), "run make docs"


@pytest.mark.parametrize("table", TABLES)
def test_every_key_is_documented(table: str) -> None:
    assert len(summary_of(TABLES[table])) > 10
    for key in keys_of(table, TABLES[table]):
        assert len(key.meaning) > 5, key.name
        assert key.takes


def test_a_starter_file_means_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(starter())

    loaded = load_config(path, {})

    assert loaded.faults == ()
    assert loaded.config == Config(source=path)


def uncommented(*places: int) -> str:
    """Return the starter file with some of its lines uncommented."""
    lines = starter().splitlines()
    for place in places:
        lines[place] = lines[place].removeprefix("# ")
    return "\n".join(lines)


def commented() -> list[list[int]]:
    """Return the lines that may be uncommented: each key of a section, and whole tables."""
    lines = starter().splitlines()
    found: list[list[int]] = []
    for place, line in enumerate(lines):
        if re.match(r"# \[[\w.]+\]$", line):
            found.append([place])
        elif re.match(r"# \w+ = ", line):
            whole = found and lines[found[-1][0]].startswith("# [") and found[-1][-1] == place - 1
            found[-1].append(place) if whole else found.append([place])
    return found


def environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    (folder / ".secrets").mkdir(exist_ok=True)
    (folder / ".secrets/decisions.key").write_text("sk-1")
    monkeypatch.setenv("HOME", str(folder))
    names = ("TYPESAFE_API_KEY", "ACME_API_KEY", "NAME")
    return dict.fromkeys(names, "redis://localhost")


@pytest.mark.parametrize("places", commented(), ids=lambda p: starter().splitlines()[p[0]][2:30])
def test_every_commented_line_of_the_starter_file_is_valid_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, places: list[int]
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(uncommented(*places))

    loaded = load_config(path, environment(tmp_path, monkeypatch))

    assert loaded.faults == ()
    jsonschema.validate(tomllib.loads(path.read_text()), config_schema())
    assert tomllib.loads(path.read_text()) != tomllib.loads(starter())


def test_every_commented_line_of_the_starter_file_is_valid_with_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(uncommented(*(place for places in commented() for place in places)))

    loaded = load_config(path, environment(tmp_path, monkeypatch))

    assert loaded.faults == ()
    table = tomllib.loads(path.read_text())
    jsonschema.validate(table, config_schema())
    for name, cls in SECTIONS.items():
        assert table[name].keys() == {attribute.name for attribute in attrs.fields(cls)}


def test_every_default_in_the_starter_file_is_the_default(tmp_path: Path) -> None:
    path, section, lines = tmp_path / "config.toml", "decide", []
    for line in starter().partition("\n[decide]\n")[2].splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif found := re.match(r"# (\w+) = ", line):
            key = next(k for k in keys_of(section, SECTIONS[section]) if k.name == found[1])
            lines += [line[2:]] if key.default is not None else []
            continue
        lines.append(line)
    path.write_text("[decide]\n" + "\n".join(lines))

    assert load_config(path, {}).config == Config(source=path)
    assert tomllib.loads(path.read_text())["http"]["port"] == 8080


def test_what_is_shown_has_no_secret_in_it(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        "[providers.x]\ndialect = 'laya'\nbase_url = 'https://user:pa55word@host.example/v1?k=s3'\n"
        "api_key = { env = 'KEY' }\nheaders = { x-key = 'l1teral', y = { env = 'KEY' } }\n"
        "settings = { server = 'ollama', token = 'l1teral', deep = [{ t = 'l1teral' }] }\n"
        "[orgs.o.providers.y]\napi_key = { env = 'KEY' }\n"
    )

    tables = as_tables(
        load_config(path, {"KEY": "s3cret", "S1GW_HTTP_LIMITS_STORE": "s3cret"}).config
    )

    assert tables["providers"]["x"]["api_key"] == "***"
    assert tables["providers"]["x"]["base_url"] == "https://***@host.example/v1"
    assert tables["providers"]["x"]["settings"]["server"] == "ollama"
    assert tables["orgs"]["o"]["providers"]["y"]["api_key"] == "***"
    for secret in ("s3cret", "l1teral", "pa55word", "user:", "k=s3"):
        assert secret not in str(tables)
