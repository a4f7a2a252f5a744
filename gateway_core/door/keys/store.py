# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""Looking keys up in a running server, which sees every change of the file at once."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from hmac import compare_digest
from pathlib import Path
from time import time
from typing import Final

from gateway_core.door.callers import Caller
from gateway_core.door.keys.file import keys_path, read_keys
from gateway_core.door.keys.record import ID_PART, KeyHolder, KeyRecord, digest
from gateway_core.door.refusals import short_of_resources
from gateway_core.door.rights import CallerKind
from gateway_core.errors import ConfigError
from gateway_core.passing import is_passing

_log: Final = logging.getLogger("s1gw.keys")
LOOK_S: Final = 0.25
"""A revoked key goes on working for no longer than this, in seconds."""
_NOWHERE: Final = (0, 0, 0)


class KeyStore:
    """The keys that are not revoked, by id; read again when the file has changed."""

    def __init__(self, path: Path | None = None, look_s: float = LOOK_S) -> None:
        """Read the keys at ``path``; by default those of the state folder.

        The file is looked at, when a key is used, at most every ``look_s`` seconds.

        Raises:
            ConfigError: the file is there and cannot be read.
        """
        self._path = path or keys_path()
        self._look_s = look_s
        self._seen = self._reported = _stamp(self._path)
        self._holders = _by_id(read_keys(self._path))
        self._looked = time()
<<<<<<< HEAD
        self._listeners: list[Callable[[Iterable[Caller]], None]] = []
=======
        # Whether the file has changed, and cannot be read for a shortage that may soon be over.
        self._short = False
>>>>>>> breaker

    def __len__(self) -> int:
        return len(self._holders)

    def find(self, token: str) -> Caller | None:
        """Return who calls with ``token``; None when it is unknown, revoked or expired.

        Raises:
            RelayRefused: ``provider_overloaded``: the file, which may have it, cannot be read now.
        """
        now = time()
        # A clock that was set back is no reason not to look.
        if not 0 <= now - self._looked < self._look_s:
            self._look(now)
        holder = self._holders.get(token[ID_PART])
        if holder is None or not compare_digest(holder.digest, digest(token)):
            if self._short:
                raise short_of_resources()
            return None
        return holder if now < holder.expires else None

    def holders(self) -> Sequence[Caller]:
        """Return who may call now: one caller for each key that is neither revoked nor expired."""
        now = time()
        self._look(now)
        return [holder for holder in self._holders.values() if now < holder.expires]

    def holds(self, kind: CallerKind) -> bool:
        """Say whether there is a key of this kind."""
        return any(holder.kind is kind for holder in self.holders())

    def on_change(self, listener: Callable[[Iterable[Caller]], None]) -> None:
        """Call ``listener`` with the callers whenever the file has been read again."""
        self._listeners.append(listener)

    def _look(self, now: float) -> None:
        self._looked = now
        stamp = _stamp(self._path)
        if stamp == self._seen:
            return
        try:
            self._holders = _by_id(read_keys(self._path))
            self._seen, self._short = stamp, False
        except ConfigError as error:
            self._short = is_passing(error)
            # The commands replace the file in one step, so this is damage from outside, or the
            # process is out of descriptors: the callers are served with the keys read last, and
            # the next look tries again, lest a revoked key go on working when that is over.
            if stamp != self._reported:
                _log.error("going on with the keys read before: %s", error)
            self._reported = stamp
            return
        for listener in self._listeners:
            listener(self.holders())


def _stamp(path: Path) -> tuple[int, int, int]:
    """Return what differs after every replacement of the file."""
    try:
        status = path.stat()
    except OSError:
        return _NOWHERE
    return status.st_ino, status.st_mtime_ns, status.st_size


def _by_id(records: tuple[KeyRecord, ...]) -> Mapping[str, KeyHolder]:
    try:
        return {record.id: record.holder() for record in records if record.revoked is None}
    except ValueError:
        raise ConfigError("the key file holds a hash or an address that is none") from None
