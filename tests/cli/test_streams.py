"""The command with its standard streams closed, full, or of a poor encoding."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = str(Path(sys.executable).with_name("s1gw"))
COMMANDS = {
    "decide": "decide Which? -o billing -o shipping",
    "decide json": "decide Which? -o billing -o shipping --json",
    "health": "health",
    "plugins": "plugins list",
    "schema": "schema",
}


def shell(script: str, **environ: str) -> "subprocess.CompletedProcess[bytes]":
    script = script.replace("s1gw", SCRIPT, 1)
    environment = {**os.environ, **environ}
    return subprocess.run(
        ["sh", "-c", script], check=False, capture_output=True, timeout=60, env=environment
    )


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("closing", [">&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_ends_nothing(name: str, closing: str) -> None:
    done = shell(f"s1gw {COMMANDS[name]} {closing}")

    assert (done.returncode, done.stdout) == (0, b"")
    assert b"Traceback" not in done.stderr


def test_a_context_from_a_closed_stdin_is_a_fault_of_the_call() -> None:
    done = shell("s1gw decide Which? --context @- <&-")

    assert done.returncode == 2
    assert b"--context" in done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_a_reader_that_leaves_sees_no_complaint(name: str) -> None:
    done = shell(f"s1gw {COMMANDS[name]} | head -c 1")

    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr


def test_a_full_disk_is_told_in_one_line() -> None:
    done = shell("s1gw schema > /dev/full")

    assert (done.returncode, done.stderr) == (1, b"error: output: No space left on device\n")


def test_a_terminal_without_unicode_gets_plain_bars() -> None:
    poor = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = shell("s1gw decide 'Which?' -o billing -o shipping", **poor)

    assert done.returncode == 0
    assert b"####" in done.stdout
    assert done.stdout.isascii()


def test_bytes_that_are_no_text_are_a_fault_of_the_call() -> None:
    done = subprocess.run(
        [SCRIPT, "decide", b"Which\xff", "-o", "a", "-o", "b", "--json"],
        check=False,
        capture_output=True,
        timeout=60,
    )

    assert done.returncode == 2
    assert b"half a surrogate pair" in done.stdout
