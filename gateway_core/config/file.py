"""Reading the TOML file itself."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

MAX_BYTES: Final = 8 * 1024 * 1024
"""Far above any configuration; what is larger is another file, or a device without an end."""


def is_explicit(path: str | os.PathLike[str] | None, environ: Mapping[str, str]) -> bool:
    """Return whether somebody named the file, so that it has to be there."""
    return path is not None or bool(environ.get("S1GW_CONFIG"))


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
