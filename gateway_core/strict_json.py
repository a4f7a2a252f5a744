"""The one reader of JSON: for requests, arguments, replies and files alike.

JSON between systems is UTF-8 without a byte order mark (RFC 8259 §8.1). Beyond the grammar,
what two readers would see differently is refused: a key that occurs twice in one object (§4),
the names ``NaN`` and ``Infinity`` (§6), and nesting that some reader gives up on (§9).

The relay's bodies go upstream byte for byte and are checked by ``relay.members`` instead.
"""

import json
from codecs import BOM_UTF8
from collections import Counter
from typing import Any, Final, NoReturn

from gateway_core.errors import InvalidJson

MAX_DEPTH: Final = 128
"""How many objects and arrays may be inside one another."""


def read_json(text: bytes | str, name: str = "the text", *, max_depth: int = MAX_DEPTH) -> Any:
    """Return the value that ``text`` holds.

    Args:
        text: bytes in UTF-8, or characters.
        name: what the text is, for the error.
        max_depth: how many objects and arrays may be inside one another.

    Raises:
        InvalidJson: it is not JSON, or not as strict as it has to be. The error's text quotes
            a repeated key and nothing else.
    """
    characters = text if isinstance(text, str) else _decoded(text, name)
    try:
        found = _decoder.decode(characters)
    except json.JSONDecodeError:
        raise InvalidJson(f"{name} {_what_is_wrong(characters)}") from None
    except RecursionError:
        raise _too_deep(name, max_depth) from None
    except ValueError:
        # Python refuses to convert integers of thousands of digits.
        raise InvalidJson(f"{name} holds a number of too many digits") from None
    if _brackets(characters) > max_depth and _is_deeper(found, max_depth):
        raise _too_deep(name, max_depth)
    return found


def _decoded(text: bytes, name: str) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise InvalidJson(f"{name} is not UTF-8") from None


def _what_is_wrong(text: str) -> str:
    if text.startswith(_BOM):
        return "must not begin with a byte order mark"
    if "\0" in text:
        return "is not UTF-8"  # but most likely UTF-16 or UTF-32
    return "is not JSON" if text.strip() else "is empty"


def _too_deep(name: str, max_depth: int) -> InvalidJson:
    return InvalidJson(f"{name} is nested more than {max_depth} deep")


def _brackets(text: str) -> int:
    """Return a number that the depth of ``text`` cannot exceed."""
    return text.count("[") + text.count("{")


def _is_deeper(value: Any, max_depth: int) -> bool:
    level = [value]
    for _ in range(max_depth):
        level = [inner for outer in level for inner in _containers_in(outer)]
        if not level:
            return False
    return True


def _containers_in(value: Any) -> list[Any]:
    inside = value.values() if isinstance(value, dict) else value
    return [inner for inner in inside if isinstance(inner, dict | list)]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = Counter(name for name, _ in pairs)
        twice = next(name for name, times in names.items() if times > 1)
        raise InvalidJson(f"{twice[:64]!r} occurs twice in one object", twice)
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidJson(f"{name} is not JSON")


_BOM: Final = BOM_UTF8.decode()
_decoder: Final = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse_constant)
