"""The JSON Schema of the configuration file, made from the classes that hold it, for editors.

A schema says what a key takes; whether a file can be served, ``s1gw config check`` says.
"""

from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Any, Final, Union, get_args, get_origin

import attrs

from gateway_core.config.model import Config
from gateway_core.config.reference import meanings_of, summary_of
from gateway_core.secret import Secret

DIALECT: Final = "http://json-schema.org/draft-07/schema#"
"""What editors of TOML know."""
_NAME: Final = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
_SECRET: Final = {
    "description": "A credential, which stands in an environment variable or in a file.",
    "oneOf": [
        {
            "type": "object",
            "properties": {place: {"type": "string", "minLength": 1}},
            "required": [place],
            "additionalProperties": False,
        }
        for place in ("env", "file")
    ],
}
_PLAIN: Final[Mapping[Any, Mapping[str, Any]]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    Path: {"type": "string", "minLength": 1},
    Secret: {"$ref": "#/definitions/secret"},
    Any: {},
}


def config_schema() -> dict[str, Any]:
    """Return the schema of the whole file, as a new object."""
    whole = _table(Config, "s1gw configuration")
    del whole["properties"]["source"]
    return {
        "$schema": DIALECT,
        "title": "s1gw configuration",
        **whole,
        "definitions": {"secret": _SECRET},
    }


def _table(cls: type, summary: str) -> dict[str, Any]:
    meanings = meanings_of(cls)
    return {
        "description": _shown(summary),
        "type": "object",
        "properties": {
            attribute.name: _key(attribute, meanings[attribute.name])
            for attribute in attrs.fields(cls)
        },
        "additionalProperties": False,
    }


def _key(attribute: "attrs.Attribute[Any]", meaning: str) -> dict[str, Any]:
    """Return what a key takes, what it means and its default."""
    rule: Mapping[str, Any] = getattr(attribute.validator, "schema", {})
    default = attribute.default
    plain = isinstance(default, str | int | float)
    return {
        **_type(attribute.type),
        **rule,
        "description": _shown(meaning),
        **({"default": default} if plain else {}),
    }


def _type(kind: Any) -> dict[str, Any]:
    if attrs.has(kind):
        return _table(kind, summary_of(kind))
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    inner = [part for part in get_args(kind) if part not in (type(None), ...)]
    match get_origin(kind):
        case origin if origin is tuple:
            return {"type": "array", "items": _type(inner[0])}
        case origin if origin is Mapping:
            return _named(inner[1])
        case origin if origin in (Union, UnionType):
            return _type(inner[0]) if len(inner) == 1 else {"anyOf": [_type(i) for i in inner]}
    raise TypeError(f"no schema for {kind}")


def _named(member: Any) -> dict[str, Any]:
    """Return the schema of a table whose keys are names."""
    named = {"type": "object", "additionalProperties": _type(member)}
    return {**named, "propertyNames": {"pattern": _NAME}} if attrs.has(member) else named


def _shown(text: str) -> str:
    return text.replace("``", "`")
