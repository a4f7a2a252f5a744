"""A dict that holds a bounded number of entries."""

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BoundedCache(dict[K, V]):
    """Keeps what was computed, for as many keys as it has room for.

    What is looked up by ``get`` costs what it costs with any dict: requests do that. Entries are
    added by ``keep`` alone.
    """

    def __init__(self, most: int) -> None:
        """Make room for ``most`` entries."""
        super().__init__()
        self._most = most

    def keep(self, key: K, value: V) -> V:
        """Keep ``value`` under ``key`` and return it; the entry that was kept first makes room."""
        if len(self) >= self._most and key not in self:
            del self[next(iter(self))]
        self[key] = value
        return value
