"""Whether deciding is switched off: a file, so that a running server sees it at once."""

from datetime import UTC, datetime
from pathlib import Path

from gateway_core.errors import ConfigError


class Pause:
    """The switch of all gateways that share one state folder; it survives a restart."""

    def __init__(self, state: Path) -> None:
        """Take the state folder; it need not exist."""
        # Every decision looks at it, so its path is put together once.
        self._marker = state / "paused"

    def is_on(self) -> bool:
        """Return whether deciding is paused."""
        return self.since() is not None

    def since(self) -> datetime | None:
        """Return when deciding was paused, or None while it is not."""
        try:
            return datetime.fromtimestamp(self._marker.stat().st_mtime, UTC)
        except OSError:
            return None

    def start(self) -> None:
        """Switch deciding off.

        Raises:
            ConfigError: the state folder cannot be written to.
        """
        try:
            self._marker.parent.mkdir(parents=True, exist_ok=True)
            self._marker.touch()
        except OSError as error:
            raise self._unwritable(error) from error

    def end(self) -> None:
        """Switch deciding on again.

        Raises:
            ConfigError: the state folder cannot be written to.
        """
        try:
            self._marker.unlink(missing_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> ConfigError:
        folder = self._marker.parent
        return ConfigError(f"{folder} cannot be written to: {error.strerror}; see S1GW_STATE_DIR")
