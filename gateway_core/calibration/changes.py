"""Noticing that files have changed, without a look at the disk for every call."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import attrs

LOOK_S: Final = 0.25

_Stamp = tuple[Path, int, int, int]


@attrs.define(eq=False)
class Changes:
    """Tells when files were made, replaced, edited or deleted.

    Attributes:
        paths: names the files that are there now.
        look_s: how long it does not look again, in seconds.
    """

    paths: Callable[[], Iterable[Path]]
    look_s: float = LOOK_S
    _seen: frozenset[_Stamp] = attrs.field(init=False)
    _look_at: float = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._seen = self._stamps()
        self._look_at = time.monotonic() + self.look_s

    def found(self) -> bool:
        """Return whether something has changed since the last look, if it is time for one."""
        now = time.monotonic()
        if now < self._look_at:
            return False
        self._look_at = now + self.look_s
        before, self._seen = self._seen, self._stamps()
        return before != self._seen

    def _stamps(self) -> frozenset[_Stamp]:
        try:
            return frozenset(stamp for path in self.paths() if (stamp := _stamp(path)))
        except OSError:
            # Whoever reads the files next says why they cannot even be listed.
            return frozenset()


def _stamp(path: Path) -> _Stamp | None:
    """Return what differs after every change of the file; None when there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return path, found.st_ino, found.st_mtime_ns, found.st_size
