"""Counting what is lost, and saying so in few lines however much it is."""

import logging
import threading
from math import inf
from time import monotonic
from typing import Final

import attrs

_log: Final = logging.getLogger("s1gw.decisionlog")
_PAUSE_S: Final = 10.0
"""A log that loses an entry a millisecond must not write a line a millisecond."""


@attrs.define(eq=False)
class Losses:
    """Counts losses of one kind; any thread may.

    The first is logged at once, those after it together: every ten seconds while there are more,
    and when ``tell`` is called.

    Attributes:
        what: the losses in words, such as ``the decision log lost entries``.
        total: how many there were.
    """

    what: str
    total: int = 0
    _untold: int = attrs.field(default=0, init=False)
    _told_at: float = attrs.field(default=-inf, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    def add(self, count: int, why: str) -> None:
        """Count ``count`` more.

        Args:
            count: how many.
            why: the cause, for the log.
        """
        with self._lock:
            self.total += count
            self._untold += count
            due = monotonic() - self._told_at >= _PAUSE_S
        if due:
            self.tell(why)

    def tell(self, why: str) -> None:
        """Log what was not logged yet, if anything."""
        with self._lock:
            untold, self._untold = self._untold, 0
            if not untold:
                return
            self._told_at = monotonic()
        _log.warning("%s (%d, %d since the start): %s", self.what, untold, self.total, why)
