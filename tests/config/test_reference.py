"""What is written about the configuration is true of the code."""

import re
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from gateway_core.config.display import as_tables
from gateway_core.config.load import load_config
from gateway_core.config.model import Config
from gateway_core.config.reference import keys_of, summary_of
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


def test_every_default_in_the_starter_file_can_be_uncommented(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    lines = starter().partition("\n[decide]\n")[2].splitlines()
    code = [line.removeprefix("# ") for line in lines if re.match(r"# \w+ = |\[", line)]
    path.write_text("[decide]\n" + "\n".join(line for line in code if not line.endswith("...")))

    loaded = load_config(path, {})

    assert loaded.faults == ()
    assert loaded.config == Config(source=path)
    assert tomllib.loads(path.read_text()).keys() == SECTIONS.keys()


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
