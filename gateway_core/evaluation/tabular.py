"""Labelled answers from a spreadsheet: CSV, whose cells become the values that JSONL has."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gateway_core.errors import InvalidRequest

_LISTS: Final = ("options", "probabilities")
_NUMBERS: Final = ("latency_ms",)
_DELIMITERS: Final = ",;\t"
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def read_csv(content: bytes, columns: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each row of a CSV with its name, as an object that a line of JSONL would be.

    The first row names the columns. Lists are JSON or have ``|`` between their items; a context
    may be JSON; an empty cell is no value. Commas, semicolons or tabs separate the cells.

    Args:
        content: of the file, in UTF-8.
        columns: the name in the file of a value, where it has another one than in JSONL.

    Raises:
        InvalidRequest: it is no such file, or a named column is not in it.
    """
    rows = csv.reader(io.StringIO(_text(content)), delimiter=_delimiter(content), strict=True)
    heading = next(rows, [])
    names = _names(heading, columns)
    try:
        for number, cells in enumerate(rows, 2):
            if any(cell.strip() for cell in cells):
                yield f"line {rows.line_num} (row {number})", _row(names, cells)
    except csv.Error as error:
        raise InvalidRequest(f"line {rows.line_num}: not CSV: {error}") from None


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidRequest("not UTF-8: save the file as CSV UTF-8") from None


def _delimiter(content: bytes) -> str:
    first = content.partition(b"\n")[0].decode("utf-8-sig", "replace")
    return max(_DELIMITERS, key=first.count)


def _names(heading: Sequence[str], columns: Mapping[str, str]) -> list[str]:
    known = [name.strip() for name in heading]
    for value, name in columns.items():
        if name not in known:
            raise InvalidRequest(
                f"--column {value}={name}: the file has no column {name!r}; "
                f"it has {', '.join(known) or 'none'}"
            )
    meant = {name: value for value, name in columns.items()}
    return [meant.get(name, name) for name in known]


def _row(names: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    filled = {name: cell for name, cell in zip(names, cells, strict=False) if cell.strip()}
    row = {name: _value(name, _harmful(cell)) for name, cell in filled.items()}
    if "question" not in row and "options" not in row:
        row["gold"] = _number(row.get("gold"))
    return row


def _value(name: str, cell: str) -> Any:
    if name in _LISTS:
        return _list(name, cell)
    if name in _NUMBERS:
        return _number(cell)
    if name == "context":
        found = _json(cell)
        return found if isinstance(found, dict) else cell
    return cell


def _list(name: str, cell: str) -> Any:
    if cell.lstrip().startswith(("[", "{")):
        return _json(cell)
    items = [item.strip() for item in cell.split("|")]
    return [_number(item) for item in items] if name == "probabilities" else items


def _json(cell: str) -> Any:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell


def _number(cell: object) -> Any:
    """Return the number that a cell holds, or the cell for whoever says what is wrong with it."""
    found = _json(cell) if isinstance(cell, str) else cell
    return found if isinstance(found, int | float) else cell


def _harmful(cell: str) -> str:
    """Return a cell without the apostrophe that ``s1gw log export`` puts before a formula."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell
