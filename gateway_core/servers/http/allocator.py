"""What the C library does with memory that is freed."""

import ctypes
from contextlib import suppress
from typing import Final

_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
KEPT_BYTES: Final = 32 * 1024 * 1024
_OWN_PAGES_BYTES: Final = 1024 * 1024
"""From this size on a block has pages of its own, which are given back when it is freed: in the
heap, one small block that lives on would keep all below it."""


def keep_freed_memory() -> None:
    """Have glibc keep up to ``KEPT_BYTES`` for the next requests (mallopt(3)).

    It would give memory back to the system after nearly every request, and have the pages of the
    next faulted in anew: a tenth of a request's time. Another C library is left alone.
    """
    with suppress(AttributeError, OSError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_TRIM_THRESHOLD, KEPT_BYTES)
        mallopt(_M_MMAP_THRESHOLD, _OWN_PAGES_BYTES)
