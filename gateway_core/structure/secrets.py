"""Credentials: named in the configuration, kept in the environment or in files."""

import os
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final

import attrs

from gateway_core.secret import Secret
from gateway_core.structure.faults import RefusedValueError

WAY_OUT: Final = 'use { env = "NAME" } or { file = "PATH" }'

_QUOTES: Final = frozenset("\"'`")

# People write the credential itself where its place belongs; only what looks like a place is
# repeated in a fault.
_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_PATH: Final = re.compile(r".*[/\\].*|[\w-]+\.\w{1,5}")


@attrs.frozen(kw_only=True)
class Sources:
    """Where a table's credentials and relative paths are looked up.

    Attributes:
        environ: the environment variables.
        folder: what relative paths start from: the configuration file's folder.
        unread: whether credentials are not read, and ``UNREAD`` stands for each.
        files: what was read from each file, None for one that could not be read: a file that
            stands in it is not read again. None to read each time, and keep nothing.
    """

    environ: Mapping[str, str] = attrs.field(factory=lambda: os.environ, repr=False)
    folder: Path = attrs.field(factory=Path)
    unread: bool = False
    files: dict[Path, str | None] | None = attrs.field(default=None, repr=False, eq=False)

    def resolve(self, path: str) -> Path:
        """Return a configured path, with ``~`` and relative paths made absolute.

        Raises:
            RefusedValueError: it begins with ``~`` and a name that is no user's.
        """
        try:
            return self.folder / Path(path).expanduser()
        except RuntimeError:
            raise RefusedValueError("the home folder that it begins with is unknown") from None

    def text(self, path: str) -> str:
        """Return what a configured file holds, or held when it was first read.

        Raises:
            OSError: it cannot be read.
            RefusedValueError: see ``resolve``.
            UnicodeDecodeError: it is not UTF-8.
        """
        place = self.resolve(path)
        if self.files is None:
            return place.read_text(encoding="utf-8")
        known = self.files.setdefault(place, None)
        if known is None:
            known = self.files[place] = place.read_text(encoding="utf-8")
        return known


UNREAD: Final = Secret("a credential that was not read")
"""Stands for every credential where none is read: only its place is checked then."""

PROCESS_SOURCES: Final = Sources()
"""The process's own environment and working folder."""

# cattrs' hooks are made once per class and take a value alone.
sources: Final[ContextVar[Sources]] = ContextVar("sources", default=PROCESS_SOURCES)


def read_secret(value: object, _: object = None) -> Secret:
    """Return the credential that ``{ env = … }`` or ``{ file = … }`` names.

    Raises:
        RefusedValueError: it is written out, or what it names is missing or blank.
    """
    if isinstance(value, Secret):
        if fault := text_fault(value.reveal()):
            raise RefusedValueError(f"the credential {fault}")
        return value
    if not isinstance(value, Mapping):
        raise RefusedValueError(f"a secret is never written out in the configuration; {WAY_OUT}")
    place = _place_of(value)
    return UNREAD if sources.get().unread else _checked(*place())


def text_or_secret(value: object, _: object = None) -> str | Secret:
    """Return plain text as it is, and a table as the credential that it names."""
    return value if isinstance(value, str) else read_secret(value)


def _place_of(table: Mapping[str, Any]) -> Callable[[], tuple[str, str]]:
    """Return what gives the place of the credential, in words, and its text."""
    match dict(table):
        case {"env": str(name), **rest} if not rest:
            return lambda: _from_environment(name)
        case {"file": str(path), **rest} if not rest:
            return lambda: _from_file(path)
    raise RefusedValueError(f"expected one place of a secret; {WAY_OUT}")


def _from_environment(name: str) -> tuple[str, str]:
    place = f"environment variable {name}" if _NAME.fullmatch(name) else "the variable it names"
    text = sources.get().environ.get(name)
    if text is None:
        raise RefusedValueError(f"{place} is not set")
    return place, text


def _from_file(path: str) -> tuple[str, str]:
    place = f"file {path}" if _PATH.fullmatch(path) else "the file it names"
    try:
        # Some editors put a byte order mark before the first character.
        return place, sources.get().text(path).removeprefix("\ufeff")
    except OSError as error:
        raise RefusedValueError(f"{place} cannot be read: {error.strerror}") from None
    except ValueError:
        raise RefusedValueError(f"{place} is not UTF-8 text") from None


def _checked(place: str, text: str) -> Secret:
    secret = text.strip()
    if fault := text_fault(secret):
        raise RefusedValueError(f"{place} {fault}")
    return Secret(secret)


def text_fault(secret: str) -> str | None:
    """Return what keeps a text from being a credential, to follow its place; None if nothing does.

    Credentials travel in headers, and those of every known vendor are visible ASCII. What people
    paste is not always: an editor's byte order mark, a document's curly quotes and dashes, spaces
    of no width, the quotes of a shell.
    """
    if not secret:
        return "is blank"
    if "\ufeff" in secret:
        return "holds a byte order mark; save it as UTF-8 without one"
    if any(ord(character) < 32 or ord(character) == 127 for character in secret):
        return "holds control characters or several lines"
    if not secret.isascii():
        return "holds characters that are not ASCII, such as curly quotes; copy the key again"
    if len(secret) > 1 and secret[0] in _QUOTES and secret[0] == secret[-1]:
        return "has quotes around the key; remove them"
    return None
