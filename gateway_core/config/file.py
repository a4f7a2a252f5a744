"""Reading the TOML file itself: whole, or for the one answer that light commands need."""

import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import attrs

from gateway_core.config.paths import DISABLED_PLUGINS, config_path_to_read
from gateway_core.user_paths import expanded

_RESEMBLING: Final = "S1GW_PLUGINS_"
_PLUGINS: Final = "plugins"
MAX_BYTES: Final = 8 * 1024 * 1024
"""Far above any configuration; what is larger is another file, or a device without an end."""


@attrs.frozen(kw_only=True)
class ConfigFile:
    """The configuration file, as it was found.

    Attributes:
        path: where it is, or would be.
        table: what it holds; None when it is not there or cannot be read.
        fault: why it cannot be read although it should be.
    """

    path: Path
    table: Mapping[str, Any] | None
    fault: str | None


def find_file(path: str | os.PathLike[str] | None, environ: Mapping[str, str]) -> ConfigFile:
    """Read the configuration file.

    Args:
        path: the file, which may begin with ``~``; the usual place when absent, where it need not
            exist.
        environ: the environment variables, of which ``S1GW_CONFIG`` may name it.
    """
    chosen = config_path_to_read(environ) if path is None else expanded(path)
    named = path is not None or bool(environ.get("S1GW_CONFIG"))
    table, fault = read_table(chosen, must_exist=named)
    return ConfigFile(path=chosen, table=table, fault=fault)


def disabled_plugins(
    path: str | os.PathLike[str] | None = None, environ: Mapping[str, str] = os.environ
) -> tuple[str, ...]:
    """Return what ``load_config`` has in ``plugins.disabled``, faster where all is well.

    Args:
        path: the configuration file; the usual place when absent.
        environ: the environment variables, which go over the file.
    """
    if not any(name == DISABLED_PLUGINS or name.startswith(_RESEMBLING) for name in environ):
        found = find_file(path, environ)
        names = None if found.fault else _plainly(found.table or {})
        if names is not None:
            return names
    # The whole configuration costs more than a light command does without it.
    from gateway_core.config.load import load_config

    return load_config(path, environ).config.plugins.disabled


def _plainly(table: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the disabled names if the file leaves no doubt about them."""
    plugins = table.get(_PLUGINS, {})
    misspelt = any(key != _PLUGINS and get_close_matches(key, (_PLUGINS,)) for key in table)
    if misspelt or not isinstance(plugins, Mapping) or plugins.keys() - {"disabled"}:
        return None
    names = plugins.get("disabled", [])
    if not isinstance(names, list) or not all(isinstance(n, str) and n.strip() for n in names):
        return None
    return tuple(names) if len(set(names)) == len(names) else None


def read_table(path: Path, *, must_exist: bool) -> tuple[dict[str, Any] | None, str | None]:
    """Return the file's table, or None and, if it should have been readable, the fault."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None, f"{path}: there is no such file" if must_exist else None
    except OSError as error:
        return None, f"{path}: cannot be read: {error.strerror}"
    if len(content) > MAX_BYTES:
        return None, f"{path}: is larger than {MAX_BYTES:,} bytes; is it the right file?"
    return _parsed(path, content)


def _parsed(path: Path, content: bytes) -> tuple[dict[str, Any] | None, str | None]:
    try:
        # Some editors put a byte order mark before the first character.
        return tomllib.loads(content.decode("utf-8-sig")), None
    except UnicodeDecodeError:
        return None, f"{path}: is not UTF-8 text"
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return None, f"{path}: is not TOML: {error}"
    except ValueError:
        return None, f"{path}: holds a number of more digits than can be read"
