"""The Claude Code plugin is laid out as that program expects, and calls commands that exist."""

import json
import re
from pathlib import Path

import click
import pytest

from gateway_core import __version__
from gateway_core.cli import main

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "claude-plugin"
COMMANDS = ("toggle", "health", "decide")


def front_matter(command: str) -> tuple[dict[str, str], str]:
    text = (FOLDER / "commands" / f"{command}.md").read_text()
    _, head, body = text.split("---\n", 2)
    return dict(line.split(": ", 1) for line in head.splitlines()), body


def test_the_manifest_names_the_plugin_after_its_commands() -> None:
    manifest = json.loads((FOLDER / ".claude-plugin" / "plugin.json").read_text())

    assert manifest["name"] == "system1"
    assert manifest["version"] == __version__
    assert manifest["license"] == "Apache-2.0"
    assert [file.name for file in (FOLDER / ".claude-plugin").iterdir()] == ["plugin.json"]


def test_the_marketplace_leads_to_the_folder() -> None:
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())
    (plugin,) = market["plugins"]

    assert market["name"]
    assert market["owner"]["name"]
    assert plugin["name"] == "system1"
    assert (ROOT / plugin["source"]).resolve() == FOLDER


def test_there_are_the_three_commands() -> None:
    assert {file.stem for file in (FOLDER / "commands").glob("*")} == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_may_run_what_it_runs_and_nothing_else(name: str) -> None:
    head, body = front_matter(name)

    assert head["description"]
    assert head["allowed-tools"] == f"Bash(s1gw {name}:*)"
    assert set(re.findall(r"s1gw (\w+)", body)) == {name}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_options_that_a_command_uses_exist(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    known = {option for parameter in command.params for option in parameter.opts}
    _, body = front_matter(name)

    assert set(re.findall(r"(?<=\s)--?[a-z][a-z-]*", body)) <= known
