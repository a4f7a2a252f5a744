"""The command by which an MCP client starts the gateway, from whatever folder it is in."""

import os
import re
import shutil
import sys
from importlib.metadata import distributions
from itertools import pairwise
from pathlib import Path
from typing import Final

_PLUGIN_GROUPS: Final = "gateway_core."
_IN_UVS_CACHE: Final = re.compile(r"(archive|environments|builds)-v\d+")


def start_command() -> list[str]:
    """Return the beginning of the command line.

    It never has Python import from the folder in which the client starts it, which is the
    project that is open, and may be anybody's. It names no file of a cache either, from which
    an environment that ``uvx`` or ``pipx run`` made is deleted one day: that is made again.
    """
    return _ephemeral() or _script() or [sys.executable, "-P", "-m", "gateway_core.cli"]


def _script() -> list[str] | None:
    """Return the script beside the interpreter; Python adds that folder and no other."""
    script = Path(sys.executable).with_name("s1gw.exe" if sys.platform == "win32" else "s1gw")
    return [str(script)] if script.exists() else None


def _ephemeral() -> list[str] | None:
    """Return the command that made this environment, if it is one that is thrown away."""
    parts = Path(sys.prefix).parts
    if _is_uvs(parts):
        more = [word for name in _plugins() for word in ("--with", name)]
        return [*_uvx(), *more, "s1gw"]
    if _is_pipxs(parts):
        return [shutil.which("pipx") or "pipx", "run", "s1gw"]
    return None


def _is_uvs(parts: tuple[str, ...]) -> bool:
    return any(map(_IN_UVS_CACHE.fullmatch, parts[:-1]))


def _is_pipxs(parts: tuple[str, ...]) -> bool:
    """Say whether this is an environment of ``pipx run``; ``pipx install`` has no cache."""
    folders = list(pairwise(parts))
    return (".cache", "pipx") in folders or ("pipx", ".cache") in folders


def _uvx() -> list[str]:
    if found := shutil.which("uvx"):
        return [found]
    # uv tells what it starts where it is itself.
    uv = os.environ.get("UV") or shutil.which("uv")
    return [uv, "tool", "run"] if uv else ["uvx"]


def _plugins() -> list[str]:
    """Return the distributions that were added to the gateway for its plugins."""
    return sorted(
        {
            found.name
            for found in distributions()
            if found.name != "s1gw"
            and any(entry.group.startswith(_PLUGIN_GROUPS) for entry in found.entry_points)
        }
    )
