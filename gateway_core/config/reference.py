"""What every key of the configuration means, read from the classes that hold it."""

import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, get_args, get_origin

import attrs

from gateway_core.config.environment import VARIABLES
from gateway_core.secret import Secret

_KINDS: Final = {
    Mapping: "a table",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    Secret: 'a secret: `{ env = "NAME" }` or `{ file = "PATH" }`',
    Path: "a path",
    tuple: "a list of text",
    str: "text",
}

_EXAMPLES: Final = {
    tuple: ["local"],
    bool: True,
    int: 100,
    float: 1.5,
    Secret: {"env": "NAME"},
    Path: "PATH",
    str: "text",
}
"""A value of each kind, for keys that are absent by default."""


@attrs.frozen(kw_only=True)
class Key:
    """One key of one table.

    Attributes:
        name: the key.
        takes: what its value must be, in words.
        default: its default, or None when it is absent by default.
        example: what may stand in the file: its default, or a value that it would take.
        meaning: what it is for.
        variable: the environment variable that overrides it, if one does.
    """

    name: str
    takes: str
    default: Any
    example: Any
    meaning: str
    variable: str | None


def summary_of(cls: type) -> str:
    """Return what a table is for: the first line of its class, without the table's name."""
    first = (inspect.getdoc(cls) or "").partition("\n")[0]
    return _sentence(first.partition(": ")[2] or first)


def keys_of(table: str, cls: type) -> Iterator[Key]:
    """Yield the keys of a table, in the order of its class."""
    meanings = meanings_of(cls)
    variables = {(v.section, v.key): v.name for v in VARIABLES}
    for attribute in attrs.fields(cls):
        yield Key(
            name=attribute.name,
            takes=_takes(attribute),
            default=_default(attribute),
            example=_example(attribute),
            meaning=meanings[attribute.name],
            variable=variables.get((table, attribute.name)),
        )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def meanings_of(cls: type) -> dict[str, str]:
    """Return what the ``Attributes`` section of a docstring says, by attribute."""
    listed = (inspect.getdoc(cls) or "").partition("Attributes:\n")[2]
    entries = re.split(r"^ {4}(\w+): ", listed, flags=re.MULTILINE)[1:]
    texts = (_sentence(re.sub(r"\s+", " ", text).strip()) for text in entries[1::2])
    return dict(zip(entries[::2], texts, strict=True))


def _takes(attribute: "attrs.Attribute[Any]") -> str:
    expected = getattr(attribute.validator, "expected", None)
    if expected is not None:
        return str(expected)
    kinds = {attribute.type, get_origin(attribute.type), *get_args(attribute.type)}
    kinds |= {get_origin(kind) for kind in kinds}
    return next((words for kind, words in _KINDS.items() if kind in kinds), "a table")


def _default(attribute: "attrs.Attribute[Any]") -> Any:
    default = attribute.default
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        return None
    if attrs.has(type(default)):
        return None
    return list(default) or None if isinstance(default, tuple) else default


def _example(attribute: "attrs.Attribute[Any]") -> Any:
    default = attribute.default
    if isinstance(default, str | int | float):
        return default
    kinds = {attribute.type, get_origin(attribute.type), *get_args(attribute.type)}
    kinds |= {get_origin(kind) for kind in kinds}
    if default is None:
        return next(example for kind, example in _EXAMPLES.items() if kind in kinds)
    return [] if isinstance(default, tuple) else {}
