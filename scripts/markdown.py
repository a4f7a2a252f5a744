"""Docstrings, signatures and records as Markdown."""

import ast
import inspect
import re
from collections.abc import Callable, Coroutine, Iterator
from enum import Enum
from itertools import pairwise
from textwrap import dedent
from typing import Any, get_args, get_origin

import attrs

from gateway_core.config.reference import meanings_of

_SECTIONS = ("Args:", "Attributes:", "Returns:", "Raises:")
_INDENTED = re.compile(r"^    .*(?:\n+    .*)*", re.MULTILINE)
_MODULE = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z])")


def code(text: str) -> str:
    """Return a docstring's text with Markdown's single backticks."""
    return text.replace("``", "`")


def cell(text: str) -> str:
    """Return ``text`` as it may stand in a table."""
    return code(text).replace("|", "\\|")


def signature(function: Callable[..., Any]) -> str:
    """Return the head of a method as a caller writes it: ``async def`` or ``def``, no ``self``."""
    found = inspect.signature(function)
    returned = found.return_annotation
    # Whoever awaits it need not know which of the two ways of writing it was taken.
    awaited = get_args(returned)[-1] if get_origin(returned) is Coroutine else returned
    is_async = inspect.iscoroutinefunction(function) or awaited is not returned
    own = [parameter for name, parameter in found.parameters.items() if name != "self"]
    text = str(found.replace(parameters=own, return_annotation=awaited)).replace(
        "mappingproxy({})", "{}"
    )
    kind = "async def" if is_async else "def"
    return f"{kind} {function.__name__}{_MODULE.sub('', text)}"


def fields(cls: type) -> str:
    """Return the fields of a record as a table: type, default and meaning."""
    meanings = meanings_of(cls)
    rows = [
        f"| `{field.name}` | `{cell(_type(field))}` | {_default(field)} "
        f"| {cell(meanings[field.name])} |\n"
        for field in attrs.fields(cls)
        if field.init
    ]
    return "| field | type | default | meaning |\n|---|---|---|---|\n" + "".join(rows)


def choices(cls: type[Enum]) -> str:
    """Return the members of an enumeration as a list, with the texts written below them."""
    said = dict(_said_below(ast.parse(inspect.getsource(cls)).body[0]))
    items = ((f"`{cls.__name__}.{name}`", said.get(name)) for name in cls.__members__)
    return "".join(f"- {name}: {code(text)}\n" if text else f"- {name}\n" for name, text in items)


def _said_below(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """Yield the members of a class that have a text below them, with it."""
    for pair in pairwise(node.body if isinstance(node, ast.ClassDef) else ()):
        match pair:
            case (
                ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, text


def _type(field: "attrs.Attribute[Any]") -> str:
    return _MODULE.sub("", inspect.formatannotation(field.type)).replace("~", "")


def _default(field: "attrs.Attribute[Any]") -> str:
    default = field.default
    if default is attrs.NOTHING:
        return "required"
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        return "`{}`"
    if isinstance(default, Enum):
        return f"`{type(default).__name__}.{default.name}`"
    if attrs.has(type(default)):
        return f"`{type(default).__name__}()`"
    return f"`{default!r}`".replace("mappingproxy({})", "{}")


def docstring(text: str) -> str:
    """Return a docstring as Markdown: sections as lists, and a fence around indented code."""
    manual, *sections = _split(code(text).splitlines())
    fenced = _INDENTED.sub(_fence, "\n".join(manual))
    return "\n".join([fenced, *(line for part in sections for line in _listed(part))])


def _split(lines: list[str]) -> list[list[str]]:
    """Return the lines before the first section, and those of each section with its heading."""
    parts: list[list[str]] = [[]]
    for line in lines:
        if line in _SECTIONS:
            parts.append([])
        parts[-1].append(line)
    return parts


def _fence(block: re.Match[str]) -> str:
    text = dedent(block[0])
    return f"```{'toml' if text.startswith('[') else 'python'}\n{text}\n```"


def _listed(lines: list[str]) -> Iterator[str]:
    yield f"**{lines[0].rstrip(':')}**\n"
    for line in lines[1:]:
        name, colon, rest = line.strip().partition(": ")
        if line.startswith("        "):
            yield f"  {line.strip()}"
        else:
            yield f"- `{name}`: {rest}" if colon and " " not in name else line.strip()
