"""What is wrong with a table: one fault per key, with its path and never a secret."""

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import attrs
from cattrs.errors import (
    AttributeValidationNote,
    ClassValidationError,
    ForbiddenExtraKeysError,
    IterableValidationError,
)

# A value in the wrong place may be a credential, so text is repeated only when it is a short
# word, or a number with a unit.
_HARMLESS: Final = re.compile(r"[A-Za-z]{1,12}|-?[0-9.]{1,8} ?[A-Za-z]{0,3}")


class RefusedValueError(Exception):
    """A value that cannot be used; the text is the whole fault, without the value itself."""


class MismatchError(RefusedValueError):
    """A value that is not what its key takes."""

    def __init__(self, expected: str, value: object) -> None:
        super().__init__(f"expected {expected}, got {describe_value(value)}")


@attrs.frozen
class Fault:
    """One thing wrong in a table.

    Attributes:
        path: the keys that lead to it from the table.
        text: what is wrong and the way out.
        meant: for an unknown key, the known key that it resembles.
    """

    path: tuple[str, ...]
    text: str
    meant: str | None = None

    def at(self, root: str) -> str:
        """Return the line for a table that stands at ``root``; an empty root is the file."""
        return f"{'.'.join(filter(None, (root, *self.path)))}: {self.text}"


def is_harmless(text: str) -> bool:
    """Return whether a text is too plain a word or number to be a credential."""
    return _HARMLESS.fullmatch(text) is not None


def describe_value(value: object) -> str:
    """Describe a configured value without repeating what may be a credential."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return f'"{value}"' if is_harmless(value) else f"text of length {len(value)}"
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    return f"a {type(value).__name__}"


def faults_in(error: Exception, path: tuple[str, ...] = ()) -> Iterator[Fault]:
    """Take cattrs' tree of errors apart, in the order of the class's attributes."""
    if not isinstance(error, ClassValidationError | IterableValidationError):
        yield Fault(path, _text(error))
        return
    noted, bare = error.group_exceptions()
    for inner, note in noted:
        step = note.name if isinstance(note, AttributeValidationNote) else note.index
        yield from faults_in(inner, (*path, str(step)))
    for inner in bare:
        if isinstance(inner, ForbiddenExtraKeysError):
            yield from _unknown_keys(inner.extra_fields, inner.cl, path)
        elif isinstance(inner, ValueError):
            yield Fault(path, str(inner))  # the class's own rule about several keys
        else:
            yield from faults_in(inner, path)


def unknown_key(key: str, known: Iterable[str], path: tuple[str, ...] = ()) -> Fault:
    """Return the fault of a key that nothing reads, with the key that was perhaps meant."""
    names = tuple(known)
    close = difflib.get_close_matches(key, names, n=1, cutoff=0.6)
    if close:
        return Fault((*path, key), f'unknown key; did you mean "{close[0]}"?', close[0])
    return Fault((*path, key), f"unknown key; known here: {', '.join(names) or 'none'}")


def _unknown_keys(keys: Iterable[Any], cls: type, path: tuple[str, ...]) -> Iterator[Fault]:
    known = [attribute.name for attribute in attrs.fields(cls) if attribute.init]
    for key in sorted(map(str, keys)):
        yield unknown_key(key, known, path)


def _text(error: Exception) -> str:
    if isinstance(error, RefusedValueError):
        return str(error)
    if isinstance(error, KeyError):
        return "missing; it is required"
    return "the value cannot be used"
