"""One entry put into another program's JSON file, and taken out again."""

import difflib
import json
import re
from pathlib import Path
from typing import Any, Final, Self

import attrs

from gateway_core.errors import ConfigError
from gateway_core.files import replace_file

BACKUP_SUFFIX: Final = ".s1gw-backup"
_INDENT: Final = re.compile(r'^([ \t]+)"', re.MULTILINE)


@attrs.frozen
class JsonFile:
    """A JSON file as it was read.

    Attributes:
        path: where it is.
        content: its bytes; empty when it does not exist.
    """

    path: Path
    content: bytes

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file, which need not exist."""
        try:
            return cls(path, path.read_bytes())
        except FileNotFoundError:
            return cls(path, b"")
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {error.strerror}") from None

    @property
    def document(self) -> dict[str, Any]:
        """The object in the file.

        Raises:
            ConfigError: it is not plain JSON, so that writing it back would lose something.
        """
        try:
            text = self.content.decode("utf-8-sig")
            found = json.loads(text or "{}", object_pairs_hook=_no_duplicates, parse_constant=_no)
        except (ValueError, RecursionError):
            raise self.unmergeable("comments, or is not plain JSON") from None
        if not isinstance(found, dict):
            raise self.unmergeable("something else than an object")
        return found

    def servers(self, key: str) -> dict[str, Any]:
        """Return the table of servers; an empty one when there is none."""
        found = self.document.get(key, {})
        if not isinstance(found, dict):
            raise self.unmergeable(f"a {key!r} that is not an object")
        return found

    def unmergeable(self, what: str) -> ConfigError:
        """Return the error for a file that is better edited by hand."""
        return ConfigError(
            f"{self.path} holds {what}; it was left alone. --print shows what to add by hand"
        )

    def replaced(self, key: str, name: str, entry: object | None) -> "JsonFile":
        """Return the file with one server set, or without it; the layout stays."""
        document, servers = self.document, self.servers(key)
        if entry is None:
            servers.pop(name, None)
        else:
            servers[name] = entry
        document[key] = servers
        return JsonFile(self.path, self._dumped(document))

    def _dumped(self, document: dict[str, Any]) -> bytes:
        text = self.content.decode("utf-8-sig")
        indent = _INDENT.search(text)
        compact = bool(text.strip()) and "\n" not in text.strip()
        written = json.dumps(
            document,
            indent=None if compact else (indent[1] if indent else 2),
            separators=(",", ":") if compact else None,
            ensure_ascii=text.isascii(),
        )
        if json.loads(written) != document:
            raise self.unmergeable("values that would not survive")
        return (written + ("\n" if not text or text.endswith("\n") else "")).encode()

    def write(self, before: "JsonFile") -> None:
        """Write the file, unless somebody else wrote to it since ``before`` was read."""
        if JsonFile.read(self.path).content != before.content:
            raise ConfigError(f"{self.path} was changed by another program; try again")
        replace_file(self.path, self.content)

    @property
    def backup(self) -> "JsonFile":
        """The copy that is kept of the file as it was before."""
        return JsonFile(self.path.with_name(self.path.name + BACKUP_SUFFIX), b"")


def diff(before: JsonFile, after: JsonFile) -> str:
    """Return what changes, line by line; neighbours, which may hold keys, are not shown."""
    old, new = (json.dumps(file.document, indent=2).splitlines() for file in (before, after))
    name = str(before.path)
    return "\n".join(difflib.unified_diff(old, new, name, name, n=0, lineterm=""))


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("duplicate key")
    return found


def _no(constant: str) -> None:
    raise ValueError(constant)
