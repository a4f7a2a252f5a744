"""A newcomer at a shell of their own, in an empty folder, with a Python that has s1gw at hand."""

import os
import re
import shlex
import signal
import stat
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest

PATIENCE_S: Final = 60.0
ROOT: Final = Path(__file__).parents[2]
_DONE: Final = "the-command-is-done"
_FOLDER: Final = "the-folder-is"
# What stands for downloads: these commands, and all that is installed with the tests.
_COMMANDS: Final = {
    "pytest": "import pytest; raise SystemExit(pytest.main())",
    "twine": "from twine.__main__ import main; raise SystemExit(main())",
}


class Shell:
    """One bash, fed command by command; what it and its children print is kept."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self._output = ""
        self._changed = threading.Condition()
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def run(self, command: str, expected: Sequence[re.Pattern[str]] = ()) -> None:
        """Run a command that must succeed and print what is expected.

        One that ends in ``&`` goes on in the background once it has.
        """
        start = len(self._output)
        assert self._process.stdin is not None
        self._process.stdin.write(f"{command}\nprintf '\\n{_DONE} %d\\n' $?\n")
        self._process.stdin.flush()
        done = re.compile(rf"^{_DONE} (\d+)$", re.MULTILINE)
        awaited = (done, *expected) if command.endswith("&") else (done,)
        with self._changed:
            self._changed.wait_for(lambda: _all_in(awaited, self._output[start:]), PATIENCE_S)
        shown = self._output[start:]
        ended = done.search(shown)
        assert ended, f"{command}\ndid not end:\n{shown}"
        assert ended[1] == "0", f"{command}\nfailed:\n{shown}"
        missing = [line.pattern for line in expected if not line.search(shown)]
        assert not missing, f"{command}\ndid not print {missing}:\n{shown}"

    def folder(self) -> Path:
        """Return the folder that the shell is in."""
        start = len(self._output)
        # What runs in the background may print lines of its own meanwhile.
        self.run(f"printf '{_FOLDER} %s\\n' \"$PWD\"")
        found = re.search(rf"^{_FOLDER} (/.*)$", self._output[start:], re.MULTILINE)
        assert found, self._output[start:]
        return Path(found[1])

    def close(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._changed:
                self._output += line
                self._changed.notify_all()


def _all_in(patterns: Sequence[re.Pattern[str]], text: str) -> bool:
    return all(pattern.search(text) for pattern in patterns)


_FURNISH: Final = """
import sys
from pathlib import Path

venv, packages, commands = Path(sys.argv[1]), sys.argv[2], {commands!r}
site = next(venv.glob("lib/python*/site-packages"))
(site / "at-hand.pth").write_text(f"import site; site.addsitedir({{packages!r}})\\n")
for name, code in commands.items():
    script = venv / "bin" / name
    script.write_text(f"#!{{venv.resolve()}}/bin/python\\n{{code}}\\n")
    script.chmod(0o755)
"""


def _python(folder: Path) -> Path:
    """Write a ``python3`` whose new environments have everything that the tests have."""
    furnish = folder / "furnish.py"
    furnish.write_text(_FURNISH.format(commands=_COMMANDS))
    real, site = Path(sys.executable).resolve(), sysconfig.get_path("purelib")
    then = shlex.join([str(real), str(furnish)])
    script = folder / "python3"
    script.write_text(
        f'#!/bin/sh\n{real} "$@" || exit\n'
        f'[ "$1 $2" != "-m venv" ] || exec {then} "$3" {shlex.quote(site)}\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


@pytest.fixture
def open_shell(tmp_path: Path) -> Iterator[Callable[..., Shell]]:
    """Open a shell in an empty folder, with the environment variables that are given."""
    opened: list[Shell] = []

    def start(**variables: str) -> Shell:
        programs, home, work = tmp_path / "programs", tmp_path / "home", tmp_path / "work"
        for made in (programs, home, work):
            made.mkdir()
        _python(programs)
        (home / "s1gw").symlink_to(ROOT)
        env = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "S1GW_STATE_DIR": str(home / "state"),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # pip's way to say that there is none
            **variables,
        }
        opened.append(Shell(work, env))
        return opened[0]

    yield start
    for shell in opened:
        shell.close()
