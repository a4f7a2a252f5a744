"""Files written whole or not at all."""

import os
import tempfile
from pathlib import Path

from gateway_core.errors import ConfigError


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
