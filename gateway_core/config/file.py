"""Reading the TOML file itself."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def is_explicit(path: Path | None, environ: Mapping[str, str]) -> bool:
    """Return whether somebody named the file, so that it has to be there."""
    return path is not None or bool(environ.get("S1GW_CONFIG"))


def read_table(path: Path, *, must_exist: bool) -> tuple[dict[str, Any] | None, str | None]:
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
