"""The command, run in this process or in one of its own, with an empty home."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway_core.cli import main

Run = Callable[..., Result]
Spawn = Callable[..., "subprocess.CompletedProcess[str]"]
KEYS = ("TYPESAFE_API_KEY", "PERPLEXITY_API_KEY", "OPENAI_API_KEY")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, and no variable that speaks of a real one."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in [n for n in os.environ if n.startswith(("S1GW_", "XDG_", "CLAUDE_")) or n in KEYS]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    return folder


@pytest.fixture
def run() -> Run:
    """Run the command in this process."""

    def invoke(*arguments: str, stdin: str | None = None, colour: bool = False) -> Result:
        return CliRunner().invoke(main, arguments, input=stdin, color=colour, prog_name="s1gw")

    return invoke


@pytest.fixture
def spawn() -> Spawn:
    """Run the installed command in a process of its own."""

    def start(*arguments: str, **options: object) -> "subprocess.CompletedProcess[str]":
        script = str(Path(sys.executable).with_name("s1gw"))
        command = [script, *arguments]
        return subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=60, **options
        )

    return start


@pytest.fixture
def write_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Write the configuration that the command finds."""

    def write(text: str) -> Path:
        path = tmp_path / "config.toml"
        path.write_text(text)
        monkeypatch.setenv("S1GW_CONFIG", str(path))
        return path

    return write
