"""What commands print to a terminal: colours only where they are wanted, columns that align."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from gateway_core.cli.terminal import columns_of, table

COMMANDS = (
    ["plugins", "list"],
    ["decide", "Which?", "-o", "billing", "-o", "garden"],
    ["health"],
    ["no-such-command"],
    ["config", "check"],
    ["keys", "revoke", "nobody"],
)
ESCAPE = b"\x1b"


def shown(folder: Path, arguments: list[str], **env: str) -> bytes:
    """Return what a command writes to a terminal that is its stdout and stderr."""
    ours, theirs = pty.openpty()
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "xterm-256color", **env}
    command = [sys.executable, "-m", "gateway_core.cli", *arguments]
    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    with subprocess.Popen(command, env=environ, **streams) as process:
        os.close(theirs)
        got = b""
        try:
            while piece := os.read(ours, 1 << 16):
                got += piece
        except OSError:
            pass  # the last process that held the terminal has ended
        process.wait(60)
    os.close(ours)
    return got


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_no_colour_is_written_where_none_is_wanted(
    tmp_path: Path, arguments: list[str], env: dict[str, str]
) -> None:
    (tmp_path / "broken.toml").write_text("[decide]\nnonsense = 1\n")
    text = shown(tmp_path, arguments, S1GW_CONFIG=str(tmp_path / "broken.toml"), **env)
    assert text.strip()
    assert ESCAPE not in text


@pytest.mark.parametrize("env", [{}, {"NO_COLOR": ""}], ids=str)
def test_a_terminal_gets_colours_otherwise(tmp_path: Path, env: dict[str, str]) -> None:
    assert ESCAPE in shown(tmp_path, ["keys", "revoke", "nobody"], **env)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("", 0),
        ("abc", 3),
        ("日本", 4),
        ("é", 1),
        ("e\u0301", 1),
        ("\uff46", 2),
        ("🙂", 2),
        ("ก\u0e31", 1),
    ],
)
def test_a_text_takes_as_many_columns_as_a_terminal_gives_it(text: str, columns: int) -> None:
    assert columns_of(text) == columns


def test_columns_align_under_wide_characters(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [["日本語", "x"], ["abc", "y"], ["e\u0301", "z"]]
    table(rows, ["name", "mark"])
    lines = capsys.readouterr().out.splitlines()
    marks = [line.rindex(mark) for line, mark in zip(lines, "Mxyz", strict=True)]
    before = [columns_of(line[:at]) for line, at in zip(lines, marks, strict=True)]
    assert len(set(before)) == 1
