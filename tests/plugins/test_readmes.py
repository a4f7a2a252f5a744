"""What the plugins' READMEs show can be used as it stands."""

import re
from pathlib import Path

import attrs
import pytest

from gateway_core.catalog import Catalog
from gateway_core.cli.checking import look_through
from gateway_core.config.load import load_config

ROOT = Path(__file__).parents[2]
READMES = sorted((ROOT / "plugins").glob("*/README.md"))
EXAMPLES = [
    pytest.param(block, id=f"{readme.parent.name}-{number}")
    for readme in READMES
    for number, block in enumerate(re.findall(r"```toml\n(.*?)```", readme.read_text(), re.DOTALL))
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_configuration_in_a_readme_works(example: str, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(example)
    keys = dict.fromkeys(re.findall(r'env = "(\w+)"', example), "k-1")
    loaded = load_config(config, keys)
    assert not loaded.faults
    assert loaded.config.providers
    assert look_through(loaded).faults == []


@pytest.mark.parametrize("readme", READMES, ids=lambda readme: readme.parent.name)
def test_a_readme_names_every_setting(readme: Path) -> None:
    dialect = readme.parent.name.replace("_", "-")
    settings = getattr(Catalog.installed().load(dialect), "settings_class", None)
    text = readme.read_text()
    names = [field.name for field in attrs.fields(settings)] if settings else []
    assert [name for name in names if name not in text] == []
