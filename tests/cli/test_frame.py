"""The frame: help for everything, nothing heavy imported, never a traceback."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

from gateway_core import __version__
from gateway_core.cli import COMMANDS, main

HEAVY = {"mcp", "httpx", "uvicorn", "cattrs", "msgspec", "limits", "starlette", "asyncio"}


def commands(group: click.Group, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the path of every command, groups included."""
    found = [path]
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, name
        below = (*path, name)
        found += commands(command, below) if isinstance(command, click.Group) else [below]
    return found


@pytest.mark.parametrize("path", commands(main), ids=" ".join)
def test_every_command_has_help(run, path: tuple[str, ...]) -> None:
    result = run(*path, "--help")

    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: s1gw")
    assert len(result.stdout.splitlines()) > 4


def test_help_lists_every_command_with_what_it_does(run) -> None:
    listed = run("--help").stdout.partition("Commands:")[2]

    for name, (_, summary) in COMMANDS.items():
        assert f"  {name} " in listed
        assert summary in listed


def test_the_version_is_the_packages(run) -> None:
    assert run("--version").stdout == f"s1gw, version {__version__}\n"


@pytest.mark.parametrize(
    "arguments", [["--help"], ["plugins", "list"], ["plugins", "list", "--json"], ["toggle"]]
)
def test_light_commands_import_nothing_heavy_and_no_plugin(arguments: list[str]) -> None:
    program = (
        "import sys\nfrom gateway_core.cli import main\n"
        f"try: main({arguments!r}, prog_name='s1gw')\n"
        "finally: print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    imported = set(done.stderr.split())

    assert "gateway_core" in imported
    assert imported.isdisjoint(HEAVY)
    assert not [name for name in imported if name.startswith("s1gw_")]


def test_python_can_run_the_command_as_a_module() -> None:
    command = [sys.executable, "-m", "gateway_core.cli", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout.startswith("s1gw, version")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["nonsense"], 2, "No such command 'nonsense'"),
        (["decide"], 2, "Missing argument 'QUESTION'"),
        (["serve"], 2, "say which: --mcp or --http"),
        (["serve", "--mcp", "--port", "1"], 2, "only --http takes other options"),
        (["decide", "q", "--context", "{"], 2, "expected JSON, or @FILE"),
        (["decide", "q", "--context", "[1]"], 2, "expected a JSON object"),
        (["decide", "q", "--context", "@/nope"], 2, "cannot be read: No such file"),
        (["decide", "q", "--min-confidence", "2"], 2, "min_confidence"),
        (["decide", "q", "-o", "a"], 2, "options"),
        (["decide", " "], 2, "question"),
        (["plugins", "check", "nope"], 1, "no dialect 'nope' is installed"),
        (["--config", "/nope.toml", "config", "check"], 1, "/nope.toml: there is no such file"),
        (["mcp", "install", "emacs"], 2, "'emacs' is not one of"),
    ],
)
def test_a_users_mistake_is_told_without_a_traceback(spawn, arguments, code, says) -> None:
    done = spawn(*arguments)

    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unwritable_state_folder_is_told(spawn, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    done = spawn("toggle", "off", env={"S1GW_STATE_DIR": str(tmp_path / "file" / "x")})

    assert done.returncode == 1
    assert "cannot be written to" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_complete_the_command(run, shell: str) -> None:
    script = run("completion", shell).stdout

    assert "_S1GW_COMPLETE" in script
    assert "s1gw" in script


def test_completion_knows_commands_and_options(spawn) -> None:
    def complete(words: str, position: int) -> list[str]:
        environ = {"_S1GW_COMPLETE": "bash_complete", "COMP_WORDS": words}
        return spawn(env={**environ, "COMP_CWORD": str(position)}).stdout.split()

    assert "plain,health" in complete("s1gw he", 1)
    assert "plain,list" in complete("s1gw plugins ", 2)
    assert "plain,cursor" in complete("s1gw mcp install cu", 3)


def test_the_schemas_are_printed_as_they_are_published(run) -> None:
    from gateway_core.schema import REQUEST, text_of

    assert run("schema", "request").stdout == text_of(REQUEST)
    assert json.loads(run("schema").stdout).keys() == {"request", "response"}
