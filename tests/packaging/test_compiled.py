"""Which of the host's modules are machine code: none, or all that pyproject.toml lists."""

import os
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOOKS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
LISTED = HOOKS["wheel"]["hooks"]["custom"]["modules"]


@pytest.mark.parametrize("path", LISTED)
def test_a_module_is_compiled_exactly_when_that_is_asked_for(path: str) -> None:
    assert (ROOT / path).is_file()
    found = find_spec(path.removesuffix(".py").replace("/", "."))
    assert found is not None
    assert found.origin is not None
    assert found.origin.endswith(".py") is (os.environ.get("S1GW_COMPILED") != "1")
