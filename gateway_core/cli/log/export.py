"""A decision log as JSONL or CSV."""

import csv
import json
from collections.abc import Iterable, Mapping
from typing import IO, Any, Final

from gateway_core.decisionlog.reader import COLUMNS

_NESTED: Final = ("probabilities", "attempts", "options", "context")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def write_jsonl(file: IO[str], entries: Iterable[Mapping[str, Any]]) -> None:
    """Write one entry a line, as ``s1gw calibrate`` reads them."""
    for entry in entries:
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def write_csv(file: IO[str], entries: Iterable[Mapping[str, Any]]) -> None:
    """Write one entry a row; what a spreadsheet would run as a formula starts with ``'``."""
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for entry in entries:
        nested = {key: json.dumps(entry[key]) for key in _NESTED if entry[key] is not None}
        writer.writerow({key: _harmless(value) for key, value in {**entry, **nested}.items()})


def _harmless(value: object) -> object:
    # Callers choose request ids and options, and the operator opens the file:
    # https://owasp.org/www-community/attacks/CSV_Injection
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
