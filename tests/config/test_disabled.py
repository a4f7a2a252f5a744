"""The quick way to the disabled plugins says what the whole configuration says."""

from pathlib import Path

import pytest

from gateway_core.config.file import disabled_plugins
from gateway_core.config.load import load_config


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[plugins]\ndisabled = ['laya', 's1gw-typesafe']",
        "[plugins]\ndisabled = []",
        "[plugins]\ndisabled = 'laya'",
        "[plugins]\ndisabled = [1]",
        "[plugins]\ndisabled = [' ']",
        "[plugins]\ndisable = ['laya']",
        "[plugin]\ndisabled = ['laya']",
        "plugins = 3",
        "[plugins",
        "[decide]\nchain = 3\n[plugins]\ndisabled = ['laya']",
    ],
)
@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"S1GW_DISABLED_PLUGINS": "a, b"},
        {"S1GW_DISABLED_PLUGINS": " "},
        {"S1GW_PLUGINS_DISABLED": "a"},
    ],
)
def test_the_quick_way_of_reading_agrees_with_the_whole_one(
    tmp_path: Path, text: str, environ: dict[str, str]
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)

    whole = load_config(path, environ).config.plugins.disabled

    assert disabled_plugins(path, environ) == whole


def test_a_missing_file_disables_nothing_unless_it_was_named(tmp_path: Path) -> None:
    assert disabled_plugins(environ={"XDG_CONFIG_HOME": str(tmp_path)}) == ()
    assert disabled_plugins(tmp_path / "nope.toml", {}) == ("*",)
