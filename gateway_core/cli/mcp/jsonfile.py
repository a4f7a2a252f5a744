"""One entry put into another program's JSON file, and taken out again."""

import difflib
import json
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any, Final, Self

import attrs

from gateway_core.cli.mcp.jsonc import read_jsonc, remove_member, set_member
from gateway_core.errors import ConfigError, InvalidJson
from gateway_core.files import replace_file

BACKUP_SUFFIX: Final = ".s1gw-backup"
_HIDDEN: Final = "(not shown)"


@attrs.frozen
class JsonFile:
    """A JSON file as it was read; comments and trailing commas are allowed, and stay.

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
            ConfigError: it is not JSON, so that writing it back would lose something.
        """
        try:
            found = read_jsonc(self._text or "{}")
        except (InvalidJson, UnicodeDecodeError):
            raise self.unmergeable("what is no JSON, or no strict JSON") from None
        if not isinstance(found, dict):
            raise self.unmergeable("something else than an object")
        return found

    @property
    def _text(self) -> str:
        # Some editors begin a file with a byte order mark, which stays.
        text = self.content.removeprefix(BOM_UTF8).decode()
        return text if text.strip() else ""

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
        """Return the file with one server set, or without it; everything else stays."""
        document, servers = self.document, dict(self.servers(key))
        text = self._text or "{}\n"
        if entry is not None:
            servers[name] = entry
            text = set_member(text, (key, name), entry)
        elif servers.pop(name, None) is not None:
            text = remove_member(text, (key, name))
        try:
            changed: object = read_jsonc(text)
        except InvalidJson:
            changed = None
        if changed != {**document, key: servers}:
            raise self.unmergeable("a layout that cannot be changed safely")
        mark = BOM_UTF8 if self.content.startswith(BOM_UTF8) else b""
        return JsonFile(self.path, mark + text.encode())

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
    old, new = (
        json.dumps(_without_values(file.document), indent=2).splitlines()
        for file in (before, after)
    )
    name = str(before.path)
    return "\n".join(difflib.unified_diff(old, new, name, name, n=0, lineterm=""))


def _without_values(value: Any, *, hidden: bool = False) -> Any:
    """Return a value in which environment variables and headers, which hold keys, have none."""
    if isinstance(value, dict):
        return {
            name: _without_values(inner, hidden=hidden or name in ("env", "headers"))
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_without_values(inner, hidden=hidden) for inner in value]
    return _HIDDEN if hidden else value
