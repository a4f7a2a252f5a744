"""Files written whole or not at all, and by one process at a time."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from gateway_core.errors import ConfigError

_LOCK_S: Final = 10.0


def replace_file(path: Path, content: bytes, mode: int | None = None) -> None:
    """Put ``content`` at ``path`` in one step; a symbolic link stays one.

    Args:
        path: the file; its folder is made when it is missing.
        content: all of its bytes.
        mode: its permissions; those of the file that is there, or of its owner alone.

    Raises:
        ConfigError: the file cannot be written.
    """
    try:
        target = Path(os.path.realpath(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, content, mode)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from error


def why_unwritable(path: Path) -> str | None:
    """Return why no file could be written at ``path``, or None; nothing is made for it.

    Folders that are missing would be made.
    """
    try:
        if path.is_dir():
            return "is a folder"
        place = next(found for found in (path, *path.parents) if found.exists())
    except OSError as error:
        return f"cannot be reached: {error.strerror}"
    if place != path and not place.is_dir():
        return f"{place} is no folder"
    return None if os.access(place, os.W_OK) else f"{place} may not be written to"


def with_unknown(known: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is written in place of an object: ``known``, and what this version cannot know.

    Versions share a state folder during an upgrade. A field that a later one wrote may restrict
    what it belongs to, so that an earlier one must not drop it.

    Args:
        known: every field that this version writes.
        before: the object as it was read.
    """
    return {**known, **{name: before[name] for name in before if name not in known}}


@contextmanager
def locked(path: Path, held: str) -> Iterator[None]:
    """Keep every other process from changing ``path`` while the block runs.

    Args:
        path: the file, in a folder that is there.
        held: what is said when another process does not let go of it in time.

    Raises:
        ConfigError: another process holds it.
        OSError: the lock beside it cannot be written.
    """
    # Only commands that change files need a lock, and they are not the server.
    from filelock import FileLock, Timeout

    try:
        lock = FileLock(path.with_suffix(".lock"), timeout=_LOCK_S).acquire()
    except Timeout:
        raise ConfigError(f"{path}: {held}") from None
    with lock:
        yield


def _replace(target: Path, content: bytes, mode: int | None) -> None:
    if mode is None and target.exists():
        mode = target.stat().st_mode
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as file:
        draft = Path(file.name)
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if mode is not None:
                draft.chmod(mode)
            draft.replace(target)
        # An interrupt must not leave half a file behind either.
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
