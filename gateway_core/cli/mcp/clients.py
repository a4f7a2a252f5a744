"""The MCP clients that s1gw can be added to: where each keeps its servers, and how."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from gateway_core.cli.mcp.starting import start_command
from gateway_core.config import paths
from gateway_core.user_paths import expanded

SERVER: Final = "s1gw"
"""The name under which the gateway appears in a client."""

_OURS: Final = ("type", "command", "args", "url", "headers")
"""What an entry says about how the server is reached, which a new entry says anew."""


@attrs.frozen(kw_only=True)
class Client:
    """One MCP client.

    Attributes:
        title: its name, for people.
        file: returns the JSON file that holds its servers for all of a person's projects.
        servers: the key of that file that holds them.
        typed: whether an entry says that it is reached over stdio.
    """

    title: str
    file: Callable[[], Path]
    servers: str = "mcpServers"
    typed: bool = True


def _settings_folder() -> Path:
    """Return the folder in which desktop programs keep their settings."""
    if sys.platform == "darwin":
        return paths.home_folder() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or paths.home_folder() / "AppData" / "Roaming")
    return expanded(os.environ.get("XDG_CONFIG_HOME") or paths.home_folder() / ".config")


def _claude_code() -> Path:
    return expanded(os.environ.get("CLAUDE_CONFIG_DIR") or paths.home_folder()) / ".claude.json"


def _claude_desktop() -> Path:
    return _settings_folder() / "Claude" / "claude_desktop_config.json"


def _cursor() -> Path:
    return paths.home_folder() / ".cursor" / "mcp.json"


def _vscode() -> Path:
    return _settings_folder() / "Code" / "User" / "mcp.json"


CLIENTS: Final[Mapping[str, Client]] = {
    "claude-code": Client(title="Claude Code", file=_claude_code),
    "claude-desktop": Client(title="Claude Desktop", file=_claude_desktop, typed=False),
    "cursor": Client(title="Cursor", file=_cursor),
    "vscode": Client(title="VS Code", file=_vscode, servers="servers"),
}


def entry_for(
    client: Client, config_path: Path | None, known: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return what a client needs to start the gateway; never a credential of ours.

    Programs started from a desktop see neither a shell's ``PATH`` nor its variables, so the
    command is absolute and what the shell says about our own files is written down.

    Args:
        client: where it is written.
        config_path: the configuration file that was chosen, if one was.
        known: the entry that is replaced: what a person set in it, such as ``env``, stays.
    """
    command, *arguments = start_command()
    if config_path or os.environ.get("S1GW_CONFIG"):
        chosen = config_path or paths.config_path()
        arguments += ["--config", str(chosen.absolute())]
    entry: dict[str, Any] = {"type": "stdio"} if client.typed else {}
    entry |= {"command": command, "args": [*arguments, "serve", "--mcp"]}
    kept = {name: value for name, value in (known or {}).items() if name not in _OURS}
    environ = kept.get("env", {})
    if os.environ.get("S1GW_STATE_DIR") and isinstance(environ, dict):
        kept["env"] = {**environ, "S1GW_STATE_DIR": str(paths.state_dir().absolute())}
    return entry | kept
