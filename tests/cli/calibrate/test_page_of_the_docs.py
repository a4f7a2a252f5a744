"""The commands of the page on calibration do what it says, in the order it gives them."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway_core.cli import main

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")
COMMANDS = [
    line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()
]


@pytest.fixture
def output(tmp_path, monkeypatch):
    """Run every command of the page from a folder with the examples, and return what it said."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    environ = {
        "S1GW_STATE_DIR": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "home"),
    }
    said = []
    for command in COMMANDS:
        program, *arguments = shlex.split(command)
        assert program == "s1gw"
        found = CliRunner().invoke(main, arguments, env=environ, catch_exceptions=False)
        assert found.exit_code == 0, f"{command}\n{found.output}"
        said.append(found.output)
    return said


def test_the_commands_run_and_give_the_numbers_on_the_page(output):
    fit, budgets, thresholds, _, asked = output
    assert "0.142 → 0.020" in fit
    assert re.search(r" 2\.(1[5-9]|2[0-4])\d* ", fit)
    assert "0.7896 " in thresholds
    assert "50.0%" in thresholds
    assert "19 of 200" in thresholds
    assert "≤ 14.0%" in thresholds
    assert "LABELS NEEDED" in budgets
    assert "local" in asked
    assert Path("calibration-report.html").is_file()


def test_the_page_gives_every_command_of_calibration():
    named = " ".join(re.findall(r"s1gw [^`]*", PAGE))
    for command in (
        "calibrate fit",
        "calibrate thresholds",
        "calibrate report",
        "calibrate list",
        "compare",
    ):
        assert command in named
    for command in ("tail", "show", "label", "export"):
        assert f"log {command}" in named


def test_the_page_warns_of_the_providers_terms():
    prose = " ".join(PAGE.split())
    assert "Logged answers are for measuring and calibrating.** Check the provider's terms" in prose
    assert "some forbid training a model on their output" in prose


def test_the_configuration_on_the_page_is_valid(tmp_path):
    from gateway_core.config.load import load_config

    text = "\n".join(re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL))
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    assert load_config(path, {}).faults == ()
