"""What the values of a configuration must be, each rule in words that a fault can show."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from gateway_core.secret import Secret


@attrs.frozen
class Rule:
    """An attrs validator that says what it expects; None, for an absent key, always passes.

    Attributes:
        expected: what the key takes, to follow the word "expected".
        holds: whether a value of the right type is accepted.
        schema: the same as keywords of JSON Schema, as far as these can say it.
    """

    expected: str
    holds: Callable[[Any], bool]
    schema: Mapping[str, Any] = attrs.field(factory=dict, eq=False)

    def __call__(self, _: object, attribute: "attrs.Attribute[Any]", value: Any) -> None:
        """Raise ``ValueError`` unless the value is accepted."""
        if value is not None and not self.holds(value):
            raise ValueError(f"{attribute.name}: expected {self.expected}")


def one_of(*names: str) -> Rule:
    """Return the rule for a choice of words."""
    expected = "one of " + ", ".join(f'"{name}"' for name in names)
    return Rule(expected, frozenset(names).__contains__, {"enum": list(names)})


_HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def _are_headers(headers: Mapping[str, str | Secret]) -> bool:
    texts = [text for text in headers.values() if isinstance(text, str)]
    return all(map(_HEADER.fullmatch, headers)) and all(map(str.isprintable, texts))


def _are_probabilities(table: Mapping[str, float]) -> bool:
    return all(0 <= number <= 1 for number in table.values())


def _are_distinct(names: tuple[str, ...]) -> bool:
    return len(set(names)) == len(names) and all(map(str.strip, names))


_SHARE: Final = {"minimum": 0, "maximum": 1}
_NOT_BLANK: Final = {"type": "string", "pattern": r"\S"}

positive: Final = Rule("a positive number", lambda number: number > 0, {"exclusiveMinimum": 0})
not_negative: Final = Rule(
    "a number that is not negative", lambda number: number >= 0, {"minimum": 0}
)
count: Final = Rule(
    "a whole number that is not negative", lambda number: number >= 0, {"minimum": 0}
)
positive_count: Final = Rule("a positive whole number", lambda number: number > 0, {"minimum": 1})
probability: Final = Rule("a number from 0 to 1", lambda number: 0 <= number <= 1, _SHARE)
probabilities: Final = Rule(
    "a table of numbers from 0 to 1",
    _are_probabilities,
    {"additionalProperties": {"type": "number", **_SHARE}},
)
port: Final = Rule(
    "a port from 0 to 65535",
    lambda number: 0 <= number <= 65535,
    {"minimum": 0, "maximum": 65535},
)
header_table: Final = Rule("a table of header names and their printable values", _are_headers)
distinct: Final = Rule(
    "a list of names, none blank and none twice",
    _are_distinct,
    {"uniqueItems": True, "items": _NOT_BLANK},
)
