"""The state file of the keys: read whole, changed under a lock, replaced in one step."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import attrs
import msgspec

from gateway_core.config.paths import state_dir
from gateway_core.door.keys.record import KeyRecord
from gateway_core.errors import ConfigError, InvalidRequest
from gateway_core.files import locked, replace_file, with_unknown

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
    return _keys(path, _content(path))


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error) from None


def _keys(path: Path, content: bytes | None) -> tuple[KeyRecord, ...]:
    if content is None:
        return ()
    try:
        key_file = msgspec.json.decode(content, type=KeyFile)
    except (msgspec.DecodeError, InvalidRequest) as error:
        raise _unreadable(path, error) from None
    if key_file.version != _VERSION:
        raise ConfigError(f"{path}: the key file has version {key_file.version}, not {_VERSION}")
    return key_file.keys


def _unreadable(path: Path, error: Exception) -> ConfigError:
    # The library's text may quote the file, and the file holds hashes.
    return ConfigError(f"{path}: the key file cannot be read ({type(error).__name__})")


def _rewritten(before: bytes | None, keys: Iterable[KeyRecord]) -> bytes:
    """Return the file with these keys, and with every field that a later version put there."""
    read: dict[str, Any] = msgspec.json.decode(before) if before else {}
    records = {record["id"]: record for record in read.get("keys", ())}
    written = [with_unknown(msgspec.to_builtins(key), records.get(key.id, {})) for key in keys]
    return msgspec.json.encode(with_unknown({"version": _VERSION, "keys": written}, read))


@contextmanager
def changing_keys(path: Path) -> Iterator[dict[str, KeyRecord]]:
    """Give the keys by id for a change, alone; write them back when the block ends well.

    Raises:
        ConfigError: the file cannot be read or written, or stays locked.
    """
    try:
        path.parent.mkdir(mode=_OWNERS_FOLDER, parents=True, exist_ok=True)
        with locked(path, "another command holds the lock of the key file"):
            before = _content(path)
            keys = {key.id: key for key in _keys(path, before)}
            yield keys
            replace_file(path, _rewritten(before, keys.values()), mode=_OWNERS_FILE)
    except OSError as error:
        raise ConfigError(f"{path}: the key file cannot be written: {error.strerror}") from None
