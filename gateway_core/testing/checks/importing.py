"""Checks of what importing a provider does."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from gateway_core.testing.checks.check import check, require
from gateway_core.testing.checks.discovery import provider_entries
from gateway_core.testing.checks.subject import Subject
from gateway_core.testing.watch.audit import Deed

_LONGEST_S: Final = 1.0
_TRIES: Final = 3


@check(
    "Importing the provider prints nothing.",
    why="Under MCP over stdio, one printed line breaks the client.",
)
def importing_prints_nothing(subject: Subject) -> None:
    """Neither on stdout nor on stderr, in an interpreter of its own."""
    printed, _ = _imported(subject)
    require(not printed, f"it printed {printed[:80]!r}")


@check(
    "Importing the provider opens no socket.",
    why="A provider is imported while the gateway starts; a slow network would hold it up.",
)
def importing_opens_no_socket(subject: Subject) -> None:
    """Neither a connection nor a name that is looked up."""
    _did_not(subject, Deed.NETWORK)


@check(
    "Importing the provider starts no process and no thread.",
    why="They outlive a reload, are not there after a fork, and nobody ends them.",
)
def importing_starts_nothing(subject: Subject) -> None:
    """An executor that starts its threads on first use starts none."""
    _did_not(subject, Deed.PROCESS, Deed.THREAD)


@check(
    "Importing the provider writes no file.",
    why="Commands that only list plugins import them, in places where nothing may be written.",
)
def importing_writes_no_file(subject: Subject) -> None:
    """Nor makes, moves or removes one; Python's own compiled files do not count."""
    _did_not(subject, Deed.FILE)


@check(
    "Importing the provider changes nothing that belongs to the whole process.",
    why="Environment, signals, logging and event loops are the host's and the operator's.",
)
def importing_changes_nothing(subject: Subject) -> None:
    """Nor what the standard library's functions do."""
    _, seen = _imported(subject)
    require(not seen["changed"], f"it changed {', '.join(seen['changed'])}")


@check(
    "Importing the provider takes less than a second.",
    why="The gateway is not ready before, and neither is any command that uses the provider.",
)
def importing_takes_little_time(subject: Subject) -> None:
    """The shortest of three times counts; heavy libraries are imported when they are used."""
    _, seen = _imported(subject)
    times = [seen["seconds"]]
    while min(times) >= _LONGEST_S and len(times) < _TRIES:
        times.append(_import(_modules(subject))[1]["seconds"])
    require(min(times) < _LONGEST_S, f"it took {min(times):.1f} s")


@check(
    "Importing the provider imports no server library.",
    why="mcp, starlette and uvicorn take up to a second to import, in every s1gw command.",
)
def importing_loads_no_server(subject: Subject) -> None:
    """A type for the checker is imported under ``TYPE_CHECKING``."""
    _, seen = _imported(subject)
    require(not seen["servers"], f"it imported {', '.join(seen['servers'])}")


def _did_not(subject: Subject, *deeds: Deed) -> None:
    _, seen = _imported(subject)
    found = [told for deed in deeds for told in seen["deeds"].get(deed, ())]
    require(not found, f"it caused {', '.join(found)}")


def _imported(subject: Subject) -> tuple[str, dict[str, Any]]:
    return _import_once(_modules(subject))


def _modules(subject: Subject) -> tuple[str, ...]:
    """Return the modules that its entry points name, and the one that defines it."""
    named = (entry.module for entry in provider_entries() if entry.name == subject.dialect)
    return tuple(dict.fromkeys((*named, subject.provider_class.__module__)))


def _import(modules: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    """Import in an interpreter of its own; return what was printed and what was seen."""
    # This process has imported it, and may be where that left it.
    found = [str(Path(each).absolute()) for each in sys.path]
    with TemporaryDirectory() as folder:
        done = subprocess.run(  # noqa: S603  # our own interpreter, on modules that are installed
            [sys.executable, "-m", "gateway_core.testing.importing", *modules],
            env={**_first_environ(), "PYTHONPATH": os.pathsep.join(found)},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    printed, mark, seen = done.stdout.partition("\0")
    last = done.stderr.strip().splitlines()[-1:]
    require(mark, f"the module {modules[-1]!r} cannot be imported by its name: {' '.join(last)}")
    return printed + done.stderr, json.loads(seen)


def _first_environ() -> dict[str, str]:
    """Return the environment that this process was started with, where the system keeps it.

    The provider is imported here, too, and may have set a variable when it was.
    """
    try:
        pairs = Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:
        return dict(os.environ)
    texts = (os.fsdecode(pair).partition("=") for pair in pairs)
    return {name: value for name, equals, value in texts if equals}


_import_once: Final = cache(_import)
