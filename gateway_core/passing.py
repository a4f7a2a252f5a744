"""Which failures pass by themselves, and so are never kept as a fact."""

import errno
import os
from collections.abc import Iterator
from typing import Final

_LASTING: Final = (
    FileNotFoundError,
    FileExistsError,
    PermissionError,
    NotADirectoryError,
    IsADirectoryError,
)
# The dynamic loader and the thread module tell these in words alone.
_SHORTAGES: Final = (
    *(os.strerror(number) for number in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)),
    "can't start new thread",
    "cannot allocate memory",
)


def is_passing(error: BaseException) -> bool:
    """Say whether ``error``, or what it was raised from, is a shortage that may be over soon.

    That is every ``OSError`` but those that tell what is in a folder, every ``MemoryError``, and
    what Python tells of a shortage in other errors: out of descriptors an extension module fails
    to load with an ``ImportError``.
    """
    return any(_is_shortage(each) for each in _chain(error))


def _is_shortage(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return not isinstance(error, _LASTING)
    if isinstance(error, ImportError | RuntimeError):
        text = str(error)
        return any(words in text for words in _SHORTAGES)
    return isinstance(error, MemoryError)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
