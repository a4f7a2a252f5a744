"""What people see: bars, tables, colours, and nothing that could drive their terminal."""

import sys
from collections.abc import Sequence
from typing import Any, Final

import click

_BAR_WIDTH: Final = 24


def say(text: str = "", **style: Any) -> None:
    """Print a line to stdout; colours are dropped when it is not a terminal."""
    click.secho(text, **style)


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
    widths = [max(map(len, column)) for column in zip(capitals, *cells, strict=True)]
    say(_line(capitals, widths), bold=True)
    return more_rows(cells, widths)


def more_rows(rows: Sequence[Sequence[str]], widths: Sequence[int]) -> list[int]:
    """Print further rows of a table; return its columns' widths, which may have grown."""
    cells = [[plain(cell) for cell in row] for row in rows]
    columns = zip(widths, *cells, strict=True)
    grown = [max([width, *map(len, column)]) for width, *column in columns]
    for row in cells:
        say(_line(row, grown))
    return grown


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    pairs = zip(cells, widths, strict=True)
    return "  ".join(cell.ljust(width) for cell, width in pairs).rstrip()


def _characters() -> tuple[str, str]:
    return ("█", "░") if _is_unicode() else ("#", ".")


def _is_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
