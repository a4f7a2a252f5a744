"""The process's stdin and stdout, taken for the protocol alone."""

import os
import sys
from typing import Final

_STDIN, _STDOUT, _STDERR = range(3)
_FIRST_FREE: Final = 3


def take_stdin() -> int:
    """Return a descriptor of stdin, and leave nothing to read for children and plugins."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        own = _duplicate(_STDIN)
    except OSError:
        return nothing  # it was closed before the start
    os.dup2(nothing, _STDIN)
    os.close(nothing)
    return own


def take_stdout() -> int:
    """Return a descriptor of stdout, and send what anybody else prints to stderr.

    It stays that way until the process ends: what a plugin printed may be flushed last of all.
    """
    own = _duplicate(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    return own


def _duplicate(descriptor: int) -> int:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(descriptor, os.O_BINARY)
        return os.dup(descriptor)
    import fcntl

    # Above the first three, even where one of those was closed.
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE)
