"""Whether deciding is switched off: a file, so that a running server sees it at once."""

from datetime import UTC, datetime
from pathlib import Path

from gateway_core.config.paths import state_dir
from gateway_core.errors import ConfigError


def is_paused() -> bool:
    """Return whether deciding is paused; it survives a restart."""
    return paused_since() is not None


def paused_since() -> datetime | None:
    """Return when deciding was paused, or None while it is not."""
    try:
        return datetime.fromtimestamp(_marker().stat().st_mtime, UTC)
    except OSError:
        return None


def pause() -> None:
    """Switch deciding off, for every gateway that shares the state folder.

    Raises:
        ConfigError: the state folder cannot be written to.
    """
    try:
        _marker().parent.mkdir(parents=True, exist_ok=True)
        _marker().touch(exist_ok=True)
    except OSError as error:
        raise _unwritable(error) from error


def resume() -> None:
    """Switch deciding on again.

    Raises:
        ConfigError: the state folder cannot be written to.
    """
    try:
        _marker().unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(error) from error


def _marker() -> Path:
    return state_dir() / "paused"


def _unwritable(error: OSError) -> ConfigError:
    return ConfigError(f"{state_dir()} cannot be written to: {error.strerror}; see S1GW_STATE_DIR")
