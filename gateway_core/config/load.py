"""The configuration: from a TOML file and the environment to values and every fault."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway_core.config.assemble import Assembly
from gateway_core.config.model import Loaded
from gateway_core.config.paths import config_path
from gateway_core.structure import Sources

__all__ = ["Loaded", "load_config"]


def load_config(path: Path | None = None, environ: Mapping[str, str] = os.environ) -> Loaded:
    """Read the configuration; never raises for a broken one.

    Args:
        path: the file; without it ``S1GW_CONFIG``, or the platform's own place, where a file
            need not exist.
        environ: the environment variables, which go over the file.
    """
    chosen = path or config_path(environ)
    must_exist = path is not None or bool(environ.get("S1GW_CONFIG"))
    table, fault = _read(chosen, must_exist)
    assembly = Assembly(sources=Sources(environ=environ, folder=chosen.parent))
    if fault is not None:
        return assembly.without_file(fault)
    return assembly.of(table or {}, source=None if table is None else chosen)


def _read(path: Path, must_exist: bool) -> tuple[dict[str, Any] | None, str | None]:
    """Return the file's table, or None and, if it should have been readable, the fault."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")), None
    except FileNotFoundError:
        return None, f"{path}: there is no such file" if must_exist else None
    except OSError as error:
        return None, f"{path}: cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        return None, f"{path}: is not UTF-8 text"
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return None, f"{path}: is not TOML: {error}"
