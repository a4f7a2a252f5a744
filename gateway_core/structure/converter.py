"""The cattrs converter: strict types, no unknown keys, every attribute's fault reported."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar, get_args, get_origin

import attrs
from cattrs import Converter
from cattrs.cols import is_mapping, list_structure_factory, mapping_structure_factory
from cattrs.errors import BaseValidationError, StructureHandlerNotFoundError
from cattrs.gen import make_dict_structure_fn, override

from gateway_core.secret import Secret
from gateway_core.structure.faults import (
    Fault,
    MismatchError,
    RefusedValueError,
    describe_value,
    faults_in,
)
from gateway_core.structure.secrets import Sources, read_secret, sources, text_or_secret

T = TypeVar("T")
Hook = Callable[[Any, Any], Any]
_MEMBER: Final = re.compile(r"<\w+(?:\.\w+)+: ([^<>]*)>")
"""The repr of an enumeration's member, such as ``<Colour.RED: 'red'>``."""
_LISTS: Final = (tuple, list, frozenset, set, Sequence)


def attempt(
    cls: type[T], table: Mapping[str, Any], where: Sources
) -> tuple[T | None, tuple[Fault, ...]]:
    """Build a ``cls`` from ``table``; return it, or None and all that is wrong."""
    structurable: bool = attrs.has(cls)
    if not structurable:
        return None, (Fault((), f"{cls.__name__} is not an attrs class"),)
    token = sources.set(where)
    try:
        return _converter().structure(table, cls), ()
    except (BaseValidationError, RefusedValueError) as error:
        return None, tuple(faults_in(error))
    except (NameError, StructureHandlerNotFoundError):
        return None, (Fault((), f"{cls.__name__} has a type that cannot be configured"),)
    finally:
        sources.reset(token)


@lru_cache(maxsize=1)
def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=True, detailed_validation=True)
    for kind, expected in ((str, "text"), (bool, "true or false"), (int, "a whole number")):
        converter.register_structure_hook(kind, _exactly(kind, expected))
    converter.register_structure_hook(float, _number)
    converter.register_structure_hook(Enum, _member)
    converter.register_structure_hook(Path, _path)
    converter.register_structure_hook(Secret, read_secret)
    converter.register_structure_hook(str | Secret, text_or_secret)
    converter.register_structure_hook_factory(is_mapping, _table_hook)
    converter.register_structure_hook_factory(_is_list, _list_hook)
    converter.register_structure_hook_factory(attrs.has, _class_hook)
    return converter


def _exactly(kind: type, expected: str) -> Hook:
    def read(value: Any, target: Any) -> Any:
        # cattrs takes a hook for subclasses too: those of text and numbers are enums.
        if target is not kind:
            return _member(value, target)
        # A boolean is an int to Python, not to a person.
        if type(value) is not kind:
            raise MismatchError(expected, value)
        return value

    return read


def _member(value: Any, kind: type[Enum]) -> Enum:
    members = {member.value: member for member in kind}
    if not isinstance(value, str | int) or value not in members:
        raise MismatchError("one of " + ", ".join(f'"{name}"' for name in members), value)
    return members[value]


def _number(value: Any, _: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise MismatchError("a number", value)
    return float(value)


def _path(value: Any, _: Any) -> Path:
    if not isinstance(value, str) or not value:
        raise MismatchError("a path", value)
    return sources.get().resolve(value)


def _table_hook(kind: Any, converter: Converter) -> Hook:
    return _only(Mapping, "a table", mapping_structure_factory(kind, converter))


def _is_list(kind: Any) -> bool:
    return get_origin(kind) in _LISTS and get_args(kind)[1:] in ((), (...,))


def _list_hook(kind: Any, converter: Converter) -> Hook:
    container = get_origin(kind)
    items = list_structure_factory(kind, converter)
    build = tuple if container is Sequence else container
    return _only(list, "a list", lambda value, _: build(items(value, list)))


def _only(kind: Any, expected: str, hook: Hook) -> Hook:
    def read(value: Any, target: Any) -> Any:
        # Text is iterable too: without this, "jev" would be a list of three models.
        if not isinstance(value, kind):
            raise MismatchError(expected, value)
        return hook(value, target)

    return read


def _class_hook(cls: Any, converter: Converter) -> Hook:
    attrs.resolve_types(cls)
    hooks = {
        attribute.name: override(struct_hook=_attribute_hook(attribute, converter))
        for attribute in attrs.fields(cls)
        if attribute.init
    }
    build = make_dict_structure_fn(cls, converter, **hooks)  # type: ignore[arg-type]
    return _only(Mapping, "a table", build)


def _attribute_hook(attribute: "attrs.Attribute[Any]", converter: Converter) -> Hook:
    """Structure one attribute and validate it at once: attrs itself stops at the first fault."""
    hook = converter.get_structure_hook(attribute.type)
    check = attribute.validator
    expected = getattr(check, "expected", None)

    def read(value: Any, _: Any) -> Any:
        try:
            found = hook(value, attribute.type)
            if check is not None:
                check(None, attribute, found)
        except MismatchError:
            if expected is None:
                raise
            raise MismatchError(expected, value) from None
        except (TypeError, ValueError) as error:
            raise _refused(expected, value, error) from None
        return found

    return read


def _refused(expected: str | None, value: Any, error: Exception) -> RefusedValueError:
    if expected is not None and isinstance(value, Mapping | list):
        return RefusedValueError(f"expected {expected}")
    if expected is not None:
        return MismatchError(expected, value)
    text = str(error.args[0]) if error.args else "the value is not accepted"
    return RefusedValueError(_plain(text.replace(repr(value), describe_value(value))))


def _plain(text: str) -> str:
    """Return what a validator said with members of enumerations as users write them."""
    return _MEMBER.sub(lambda found: found[1], text)
