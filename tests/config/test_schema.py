"""The JSON Schema of the configuration says what loading says, as far as it goes."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from gateway_core.config.load import load_config
from gateway_core.config.schema import config_schema
from gateway_core.schema import text_of

PUBLISHED = Path(__file__).parents[2] / "schema/config.json"
VALIDATOR = jsonschema.Draft7Validator(config_schema())


def test_it_is_a_schema_and_published_as_it_is() -> None:
    jsonschema.Draft7Validator.check_schema(config_schema())
    assert PUBLISHED.read_text() == text_of(config_schema()), "run make docs"
    assert json.loads(PUBLISHED.read_text())["properties"]["http"]["description"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "include = ['orgs.d/*.toml']",
        "[decide]\nchain = ['a', 'b']\nthresholds = { a = 0.5 }\ntimeout_s = 3",
        "[providers.a]\ndialect = 'x'\napi_key = { env = 'KEY' }\nheaders = { a = 'b' }",
        "[providers.a]\nheaders = { a = { env = 'KEY' } }\nsettings = { deep = { x = [1] } }",
        "[orgs.o]\nallow_private = true\n[orgs.o.limits]\nrpm = 3\n[orgs.o.providers.p]",
        "[middleware.m.settings]\nanything = 1",
    ],
)
def test_what_loads_is_valid(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    assert load_config(path, {"KEY": "sk"}).faults == ()
    VALIDATOR.validate(tomllib.loads(text))


@pytest.mark.parametrize(
    "text",
    [
        "[htp]",
        "source = 'x'",
        "[decide]\ntimeout_s = 'x'",
        "[decide]\ntimeout_s = 0",
        "[decide]\nthreshold = 2",
        "[decide]\nthresholds = { a = 2 }",
        "[decide]\nchain = ['a', 'a']",
        "[decide]\nchain = ['']",
        "[decide]\nwhen_stale = 'x'",
        "[http]\nport = 70000",
        "[http]\nlimits_store = 'redis://written.out'",
        "[http]\nopen_to_network = 1",
        "[http]\ntls_key = ''",
        "[log]\nlevel = 'loud'",
        "[providers.'a b']",
        "[providers.a]\napi_key = 'sk'",
        "[providers.a]\napi_key = { env = 'KEY', file = 'x' }",
        "[providers.a]\nmodels = 'm'",
        "[orgs.o.limits]\nrpm = 1.5",
        "[orgs.o.providers.p]\nmax_concurrency = 0",
    ],
)
def test_what_is_a_fault_is_not_valid(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    assert load_config(path, {"KEY": "sk"}).faults != ()
    assert not VALIDATOR.is_valid(tomllib.loads(text))
