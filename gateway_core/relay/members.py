"""The top-level members of a JSON object, found without building the values in it.

msgspec checks the whole text at C speed and gives every top-level value as the bytes it came
in. Keys are taken as objects that are equal only to themselves, so that a repeated key is
kept rather than merged, and so is always found out.

What msgspec leaves open is settled here: strings must be UTF-8 (RFC 8259 §8.1), and escapes of
lone surrogates are allowed, as the grammar of RFC 8259 §7 has them.
"""

import json
import operator
import re
from codecs import utf_8_decode
from collections.abc import Mapping
from typing import Final

import msgspec

from gateway_core.errors import RelayRefused

_WHITE: Final = rb"[ \t\n\r]*"
_KEY: Final = re.compile(
    _WHITE + rb"[{,]?" + _WHITE + rb'("[^"\\]*(?:\\.[^"\\]*)*")' + _WHITE + b":" + _WHITE,
    re.DOTALL,
)
_STEP: Final = 1 << 18
MAX_MEMBERS: Final = 100_000
"""How many members a large text may have: each takes many times the memory of its bytes."""
_LARGE: Final = 1 << 20

Members = Mapping[str, msgspec.Raw]
"""The values of an object by their keys, unescaped, in the order of the text."""


class Name(str):
    """A key as it was read; two of the same text are still two."""

    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__


_Found = dict[Name, msgspec.Raw]
# The hook is called with the type and the text: the key is made without a step of Python.
_decoder: Final = msgspec.json.Decoder(type=_Found, dec_hook=operator.call)


def read_members(text: bytes) -> Members:
    """Return the members of the JSON object ``text``, the whole of which is checked.

    Raises:
        RelayRefused: ``invalid_request``: it is no JSON object, or a key of it is repeated.
    """
    try:
        found = _decoded(text)
    except (msgspec.DecodeError, RecursionError):
        found = _with_surrogates(text)
    if not (text.isascii() or is_utf8(text)):
        raise _refused("the body is not UTF-8")
    members = {str(name): value for name, value in found.items()}
    if len(members) != len(found):
        raise _refused("a top-level key of the body occurs twice")
    return members


def member_place(name: str, text: bytes, members: Members) -> tuple[int, int]:
    """Return where in ``text`` the value of its member ``name`` starts and ends."""
    end = 0
    for key, value in members.items():
        start = _key_at(end, text).end()
        end = start + len(memoryview(value))
        if key == name:
            return start, end
    raise KeyError(name)


def _key_at(position: int, text: bytes) -> re.Match[bytes]:
    """Return the key that follows the value that ends at ``position``, up to its own value."""
    key = _KEY.match(text, position)
    if key is None:
        raise _refused("the body is not valid JSON")
    return key


def _decoded(text: bytes) -> _Found:
    if len(text) < _LARGE:
        return _decoder.decode(text)
    left = iter(range(MAX_MEMBERS))

    def counted(kind: type[Name], key: str) -> Name:
        if next(left, None) is None:
            raise _refused("the body has too many top-level keys")
        return kind(key)

    return msgspec.json.Decoder(type=_Found, dec_hook=counted).decode(text)


def _with_surrogates(text: bytes) -> _Found:
    """Return the members of a text that msgspec does not take, if that is for surrogates."""
    try:
        found = _decoded(without_surrogates(text))
    except msgspec.ValidationError:
        raise _refused("the body must be a JSON object") from None
    except msgspec.DecodeError:
        raise _refused(_what_is_wrong(text)) from None
    except RecursionError:
        raise _refused("the body is nested too deeply") from None
    members: _Found = {}
    view, end = memoryview(text), 0
    for value in found.values():
        key = _key_at(end, text)
        end = key.end() + len(memoryview(value))
        members[Name(json.loads(key[1].decode()))] = msgspec.Raw(view[key.end() : end])
    return members


def _what_is_wrong(text: bytes) -> str:
    if text.startswith(b"\xef\xbb\xbf"):
        return "the body must not begin with a byte order mark"
    return "the body is not valid JSON" if text.strip() else "the body is empty"


def without_surrogates(text: bytes) -> bytes:
    r"""Return a text of the same length and structure in which no escape is a surrogate.

    ``\uD800`` to ``\uDFFF`` become ``\uA800`` to ``\uAFFF``, which stand alone. Where the
    backslash is itself escaped, the letters after it change and the structure does not.
    """
    return text.replace(rb"\ud", rb"\ua").replace(rb"\uD", rb"\uA")


def is_utf8(text: bytes) -> bool:
    """Say whether ``text`` is UTF-8, without holding much of it decoded."""
    view, start = memoryview(text), 0
    try:
        while start < len(view):
            end = start + _STEP
            start += utf_8_decode(view[start:end], "strict", end >= len(view))[1]
    except UnicodeDecodeError:
        return False
    return True


def _refused(message: str) -> RelayRefused:
    return RelayRefused("invalid_request", message)
