"""The state file of the keys: read whole, changed under a lock, replaced in one step."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import attrs
import msgspec

from gateway_core.config.paths import state_dir
from gateway_core.door.keys.record import KeyRecord
from gateway_core.errors import ConfigError, InvalidRequest
from gateway_core.files import locked, replace_file

_VERSION: Final = 1
_OWNERS_FOLDER: Final = 0o700
_OWNERS_FILE: Final = 0o600


@attrs.frozen(kw_only=True)
class KeyFile:
    """The whole file: the version of its layout, and the keys in the order they were made."""

    version: int = _VERSION
    keys: tuple[KeyRecord, ...] = ()


def keys_path() -> Path:
    """Return where the keys are kept: ``keys.json`` in the state folder."""
    return state_dir() / "keys.json"


def read_keys(path: Path) -> tuple[KeyRecord, ...]:
    """Return all keys, revoked ones included; none when there is no file.

    Raises:
        ConfigError: the file cannot be read, or is not what this version writes.
    """
    try:
        found = msgspec.json.decode(path.read_bytes(), type=KeyFile)
    except FileNotFoundError:
        return ()
    except (OSError, msgspec.DecodeError, InvalidRequest) as error:
        # The library's text may quote the file, and the file holds hashes.
        raise ConfigError(f"{path}: the key file cannot be read ({type(error).__name__})") from None
    if found.version != _VERSION:
        raise ConfigError(f"{path}: the key file has version {found.version}, not {_VERSION}")
    return found.keys


@contextmanager
def changing_keys(path: Path) -> Iterator[dict[str, KeyRecord]]:
    """Give the keys by id for a change, alone; write them back when the block ends well.

    Raises:
        ConfigError: the file cannot be read or written, or stays locked.
    """
    try:
        path.parent.mkdir(mode=_OWNERS_FOLDER, parents=True, exist_ok=True)
        with locked(path, "another command holds the lock of the key file"):
            keys = {key.id: key for key in read_keys(path)}
            yield keys
            content = msgspec.json.encode(KeyFile(keys=tuple(keys.values())))
            replace_file(path, content, mode=_OWNERS_FILE)
    except OSError as error:
        raise ConfigError(f"{path}: the key file cannot be written: {error.strerror}") from None
