"""JSON with comments, as editors keep it: read strictly, and changed in one place.

A change is made in the text, around one member, so that comments, order and layout stay.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import attrs

from gateway_core.strict_json import read_json

_TOKEN: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)
_COMMENT: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_WHITE: Final = re.compile(r"[ \t\r\n]*")
_INDENT: Final = re.compile(r'^([ \t]+)"', re.MULTILINE)
_NO_BLANKS: Final = re.compile(r"[^\r\n]")
_decoder: Final = json.JSONDecoder()


@attrs.frozen
class _Member:
    """Where a member of an object stands: its key begins, its value begins and ends."""

    name: str
    key: int
    start: int
    end: int


def read_jsonc(text: str) -> Any:
    """Return the value of a text that may have comments and trailing commas.

    Raises:
        InvalidJson: it is otherwise no strict JSON.
    """
    return read_json(_plain(text), "the file")


def set_member(text: str, path: tuple[str, ...], value: object) -> str:
    """Return ``text`` with the member at ``path`` set; objects on the way are made.

    Args:
        text: an object in JSON, perhaps with comments.
        path: the keys that lead to the member, outermost first.
        value: what it is to be.
    """
    opening = end = _first(_plain(text), 0)
    for depth, name in enumerate(path):
        member = _member(text, opening, name)
        if member is None:
            for inner in reversed(path[depth + 1 :]):
                value = {inner: value}
            return _inserted(text, opening, (name, value), depth + 1)
        opening, end = member.start, member.end
    return text[:opening] + _dumped(value, text, len(path)) + text[end:]


def remove_member(text: str, path: tuple[str, ...]) -> str:
    """Return ``text`` without the member at ``path``, which must be there."""
    opening = _first(_plain(text), 0)
    for name in path[:-1]:
        opening = next(each.start for each in _members(text, opening) if each.name == name)
    members = list(_members(text, opening))
    index = next(i for i, member in enumerate(members) if member.name == path[-1])
    start = len(text[: members[index].key].rstrip())
    end = members[index].end
    if comma := _comma_after(text, end):
        return text[:start] + text[comma:]
    # The last member of an object takes the comma before it along.
    before = _comma_after(text, members[index - 1].end) if index else 0
    return (
        text[: before - 1] + text[before:start] + text[end:]
        if before
        else text[:start] + text[end:]
    )


def _plain(text: str) -> str:
    """Return a text of the same length, without comments and trailing commas."""
    return _TOKEN.sub(_blank, _without_comments(text))


def _without_comments(text: str) -> str:
    return _COMMENT.sub(_blank, text)


def _blank(token: re.Match[str]) -> str:
    found = token[0]
    return found if found.startswith('"') else _NO_BLANKS.sub(" ", found)


def _first(text: str, position: int) -> int:
    """Return where the first character stands that is no white space."""
    white = _WHITE.match(text, position)
    return position if white is None else white.end()


def _members(text: str, opening: int) -> Iterator[_Member]:
    """Yield the members of the object that begins at ``opening``."""
    plain = _plain(text)
    position = _first(plain, opening + 1)
    while plain[position] == '"':
        name, end = _decoder.raw_decode(plain, position)
        start = _first(plain, _first(plain, end) + 1)
        value_end = _decoder.raw_decode(plain, start)[1]
        yield _Member(name, position, start, value_end)
        position = _first(plain, value_end)
        position = _first(plain, position + 1) if plain[position] == "," else position


def _member(text: str, opening: int, name: str) -> _Member | None:
    return next((each for each in _members(text, opening) if each.name == name), None)


def _inserted(text: str, opening: int, member: tuple[str, object], depth: int) -> str:
    """Return ``text`` with a member more in the object that begins at ``opening``."""
    name, value = member
    closing = _decoder.raw_decode(_plain(text), opening)[1] - 1
    compact = _is_compact(text)
    written = json.dumps(name) + (":" if compact else ": ") + _dumped(value, text, depth)
    if not compact:
        line, indent = _line_end(text), _indent(text)
        written = line + indent * depth + written + line + indent * (depth - 1)
    before = text[:closing].rstrip()
    last = max((each.end for each in _members(text, opening)), default=0)
    if last and not _comma_after(text, last):
        before = before[:last] + "," + before[last:]
    return before + written + text[closing:]


def _comma_after(text: str, position: int) -> int:
    """Return where the comma that follows a value ends; 0 if none does."""
    found = _without_comments(text)
    place = _first(found, position)
    return place + 1 if found[place] == "," else 0


def _is_compact(text: str) -> bool:
    return "\n" not in text.strip() and text.strip() not in ("{}", "")


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent(text: str) -> str:
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _dumped(value: object, text: str, depth: int) -> str:
    ascii_only = text.isascii()
    if _is_compact(text):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=ascii_only)
    indent = _indent(text)
    written = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    return written.replace("\n", _line_end(text) + indent * depth)
