"""What people see: bars, tables, colours, and nothing that could drive their terminal."""

import os
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any, Final
from unicodedata import category, east_asian_width

import click

_BAR_WIDTH: Final = 24


def say(text: str = "", **style: Any) -> None:
    """Print a line to stdout; see ``colour``."""
    click.secho(text, color=colour(), **style)


def say_aside(text: str, **style: Any) -> None:
    """Print a line to stderr; see ``colour``."""
    click.secho(text, err=True, color=colour(), **style)


def colour() -> bool | None:
    """Return False where nothing is to be styled, and None where a terminal is.

    ``NO_COLOR`` with any value but the empty one forbids it (no-color.org), and so does a
    terminal that calls itself dumb, which shows escape sequences as text.
    """
    plain_only = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return False if plain_only else None


def say_json(value: object) -> None:
    """Print a value as JSON for programs."""
    import json

    text = json.dumps(value, ensure_ascii=False, indent=2)
    click.echo(text if _is_unicode() else json.dumps(value, indent=2))


def plain(text: object) -> str:
    """Return text without control characters: a provider's words must not steer a terminal."""
    return "".join(c if c.isprintable() else " " for c in str(text))


def bar(share: float, width: int = _BAR_WIDTH) -> str:
    """Return a bar for a share in [0, 1]."""
    full, empty = _characters()
    filled = round(max(0.0, min(1.0, share)) * width)
    return full * filled + empty * (width - filled)


def percent(share: float) -> str:
    """Return a share in [0, 1] as a percentage, such as ``12.3%``."""
    return f"{share:.1%}"


def table(rows: Sequence[Sequence[str]], heading: Sequence[str]) -> list[int]:
    """Print rows in aligned columns under a heading in capitals; return the columns' widths."""
    cells = [[plain(cell) for cell in row] for row in rows]
    capitals = [name.upper() for name in heading]
    widths = [max(map(columns_of, column)) for column in zip(capitals, *cells, strict=True)]
    say(_line(capitals, widths), bold=True)
    return more_rows(cells, widths)


def more_rows(rows: Sequence[Sequence[str]], widths: Sequence[int]) -> list[int]:
    """Print further rows of a table; return its columns' widths, which may have grown."""
    cells = [[plain(cell) for cell in row] for row in rows]
    columns = zip(widths, *cells, strict=True)
    grown = [max([width, *map(columns_of, column)]) for width, *column in columns]
    for row in cells:
        say(_line(row, grown))
    return grown


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    pairs = zip(cells, widths, strict=True)
    return "  ".join(_padded(cell, width) for cell, width in pairs).rstrip()


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - columns_of(cell))


def columns_of(text: str) -> int:
    """Return how many columns of a terminal a text takes (Unicode Standard Annex 11)."""
    return len(text) if text.isascii() else sum(map(_columns_of, text))


@cache
def _columns_of(character: str) -> int:
    if category(character) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def _characters() -> tuple[str, str]:
    return ("█", "░") if _is_unicode() else ("#", ".")


def _is_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
