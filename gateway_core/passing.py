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
_NUMBERS: Final = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)
# The dynamic loader and the thread module tell these in words alone.
_SHORTAGES: Final = (
    *(os.strerror(number) for number in (*_NUMBERS, errno.EAGAIN)),
    "can't start new thread",
    "cannot allocate memory",
)


def is_passing(error: BaseException) -> bool:
    """Say whether ``error``, or what it was raised from, is a shortage that may be over soon.

    That is every ``OSError`` but those that tell what is in a folder, every ``MemoryError``, and
    what Python tells of a shortage in other errors: out of descriptors an extension module fails
    to load with an ``ImportError``.
    """
    return any(_may_pass(each) for each in _chain(error))


def is_shortage(error: BaseException) -> bool:
    """Say whether ``error`` itself tells that the process is short of descriptors or memory."""
    if isinstance(error, OSError) and error.errno in _NUMBERS:
        return True
    # asyncio puts several errors of one connection together, in words.
    told_in_words = isinstance(error, OSError | ImportError | RuntimeError)
    return isinstance(error, MemoryError) or (told_in_words and _names_a_shortage(error))


def _names_a_shortage(error: BaseException) -> bool:
    text = str(error)
    return any(words in text for words in _SHORTAGES)


def _may_pass(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return not isinstance(error, _LASTING)
    return is_shortage(error)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
