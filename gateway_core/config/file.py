"""Reading the TOML file itself."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from gateway_core.config.paths import config_path_to_read
from gateway_core.user_paths import expanded

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
