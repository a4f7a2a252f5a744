"""Checks of how a provider is found and what importing it does."""

import json
import os
import re
import subprocess
import sys
from functools import cache
from importlib.metadata import EntryPoint
from typing import Any, Final

from gateway_core.api import API_VERSION
from gateway_core.catalog.scan import offers
from gateway_core.testing.checks.check import check, require
from gateway_core.testing.checks.subject import Subject

_DIALECT: Final = re.compile(r"[a-z][a-z0-9-]*")
_SERVERS: Final = ("mcp", "starlette", "uvicorn")
_IMPORT: Final = f"""
import json, os, sys
wire = os.fdopen(os.dup(1), "w")
events = []
sys.addaudithook(lambda event, _: events.append(event) if event.startswith("socket.") else None)
__import__(sys.argv[1])
servers = [name for name in {_SERVERS!r} if name in sys.modules]
sys.stdout.flush()
wire.write("\\0" + json.dumps({{"sockets": sorted(set(events)), "servers": servers}}))
wire.flush()
"""


def provider_entries() -> list[EntryPoint]:
    """Return the entry points of every installed provider for this version of the API."""
    ours = ("providers", API_VERSION)
    return [offer.entry for offer in offers() if (offer.subject, offer.api_version) == ours]


@check(
    "An entry point in the group gateway_core.providers.v1 names the class.",
    why="The host finds providers by their entry points alone, and imports none to list them.",
)
def an_entry_point_names_the_class(subject: Subject) -> None:
    """Whatever else the distribution offers under other names."""
    found = [entry for entry in provider_entries() if entry.name == subject.dialect]
    require(found, f"no installed distribution has the entry point {subject.dialect!r}")
    named = {entry.value for entry in found}
    loaded = [entry.load() for entry in found]
    require(subject.provider_class in loaded, f"the entry point names {', '.join(sorted(named))}")


@check(
    "The dialect is lower-case letters, digits and hyphens, beginning with a letter.",
    why="It is typed in configurations and shown in listings, on every platform.",
)
def the_dialect_is_a_plain_word(subject: Subject) -> None:
    """As ``s1gw plugins new`` takes them."""
    require(_DIALECT.fullmatch(subject.dialect), f"the dialect is {subject.dialect!r}")


@check(
    "Importing the provider prints nothing.",
    why="Under MCP over stdio, one printed line breaks the client.",
)
def importing_prints_nothing(subject: Subject) -> None:
    """Neither on stdout nor on stderr, in an interpreter of its own."""
    printed, _ = _imported(subject.provider_class.__module__)
    require(not printed, f"it printed {printed[:80]!r}")


@check(
    "Importing the provider opens no socket.",
    why="A provider is imported while the gateway starts; a slow network would hold it up.",
)
def importing_opens_no_socket(subject: Subject) -> None:
    """Told by the interpreter's own audit events."""
    _, seen = _imported(subject.provider_class.__module__)
    require(not seen["sockets"], f"it caused {', '.join(seen['sockets'])}")


@check(
    "Importing the provider imports no server library.",
    why="mcp, starlette and uvicorn take up to a second to import, in every s1gw command.",
)
def importing_loads_no_server(subject: Subject) -> None:
    """A type for the checker is imported under ``TYPE_CHECKING``."""
    _, seen = _imported(subject.provider_class.__module__)
    require(not seen["servers"], f"it imported {', '.join(seen['servers'])}")


@cache
def _imported(module: str) -> tuple[str, dict[str, Any]]:
    """Import ``module`` in an interpreter of its own; return what it printed and what was seen."""
    done = subprocess.run(  # noqa: S603  # our own interpreter, on a module that is installed
        [sys.executable, "-c", _IMPORT, module],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    printed, mark, seen = done.stdout.partition("\0")
    last = done.stderr.strip().splitlines()[-1:]
    require(mark, f"the module {module!r} cannot be imported by its name: {' '.join(last)}")
    return printed + done.stderr, json.loads(seen)
