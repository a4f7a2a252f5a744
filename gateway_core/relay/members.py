"""The top-level members of a JSON object, found without building the values in it.

msgspec checks the whole text at C speed and gives every top-level value as the bytes it came
in. Keys are taken as objects that are equal only to themselves, so that a repeated key is
kept rather than merged, and so the members stand in the text exactly as they are listed.

What msgspec leaves open is settled here: strings must be UTF-8 (RFC 8259 §8.1), and escapes of
lone surrogates are allowed, as the grammar of RFC 8259 §7 has them.
"""

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from itertools import islice
from typing import Final

import msgspec

from gateway_core.errors import RelayRefused

_WHITE: Final = rb"[ \t\n\r]*"
_KEY: Final = re.compile(
    _WHITE + rb"[{,]?" + _WHITE + rb'("[^"\\]*(?:\\.[^"\\]*)*")' + _WHITE + b":" + _WHITE,
    re.DOTALL,
)
_STEP: Final = 1 << 20


class Name:
    """A key as it was read; two of the same text are still two."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def _name(_: type[Name], text: str) -> Name:
    return Name(text)


_decoder: Final = msgspec.json.Decoder(type=dict[Name, msgspec.Raw], dec_hook=_name)
_Members = dict[Name, msgspec.Raw]


class JsonObject:
    """The members of one JSON object, in the order of its text.

    Attributes:
        text: the object's text.
        names: the keys, unescaped; repeated ones are repeated.
    """

    __slots__ = ("_values", "names", "text")

    def __init__(self, text: bytes) -> None:
        """Check the whole of ``text``; raise ``RelayRefused`` when it is no JSON object."""
        members, exact = _decode(text)
        if not is_utf8(text):
            raise _refused("the body is not UTF-8")
        self.text = text
        self._values = list(members.values())
        self.names = [name.text for name in members]
        if not exact:
            self.names = [json.loads(key[1]) for key in self._keys()]

    def span(self, index: int) -> tuple[int, int]:
        """Return where the value of the member at ``index`` starts and ends in the text."""
        key = next(islice(self._keys(), index, None))
        return key.end(), key.end() + len(memoryview(self._values[index]))

    def first(self, index: int) -> bytes:
        """Return the first character of the value of the member at ``index``."""
        return bytes(memoryview(self._values[index])[:1])

    def _keys(self) -> Iterator[re.Match[bytes]]:
        position = 0
        for value in self._values:
            key = _KEY.match(self.text, position)
            if key is None:
                raise _refused("the body is not valid JSON")
            yield key
            position = key.end() + len(memoryview(value))


def _decode(text: bytes) -> tuple[_Members, bool]:
    try:
        return _decoder.decode(text), True
    except msgspec.ValidationError:
        raise _refused("the body must be a JSON object") from None
    except msgspec.DecodeError:
        return _decode_with_surrogates(text), False
    except RecursionError:
        raise _refused("the body is nested too deeply") from None


def _decode_with_surrogates(text: bytes) -> _Members:
    try:
        return _decoder.decode(without_surrogates(text))
    except msgspec.ValidationError:
        raise _refused("the body must be a JSON object") from None
    except msgspec.DecodeError:
        raise _refused(_what_is_wrong(text)) from None
    except RecursionError:
        raise _refused("the body is nested too deeply") from None


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
    if text.isascii():
        return True
    decoder = getincrementaldecoder("utf-8")()
    view = memoryview(text)
    try:
        for start in range(0, len(view), _STEP):
            decoder.decode(view[start : start + _STEP])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _refused(message: str) -> RelayRefused:
    return RelayRefused("invalid_request", message)
