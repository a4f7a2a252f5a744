"""Labels of many calls from one file."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from gateway_core.cli.terminal import say
from gateway_core.decisionlog.reader import LogReader
from gateway_core.errors import InvalidRequest

_MOST_SHOWN: Final = 20


@attrs.frozen
class Label:
    """One line of the file.

    Attributes:
        place: names the line.
        request_id: of the call.
        gold: the right answer.
    """

    place: str
    request_id: str
    gold: str


def read_labels(path: Path) -> list[Label]:
    """Read a CSV whose first row names ``request_id`` and ``gold``, or JSONL of such objects.

    Raises:
        InvalidRequest: it cannot be read as one of both; lines that lack a value are named.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidRequest(f"{path.name}: not UTF-8") from None
    except OSError as error:
        raise InvalidRequest(f"{path.name}: cannot be read: {error.strerror}") from None
    rows = _json_rows(text) if text.lstrip().startswith("{") else _csv_rows(text, path.name)
    return [_label(place, row) for place, row in rows]


def _json_rows(text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                raise InvalidRequest(f"line {number}: not JSON") from None
            yield f"line {number}", row if isinstance(row, dict) else {}


def _csv_rows(text: str, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter)
    missing = {"request_id", "gold"} - set(reader.fieldnames or ())
    if missing:
        raise InvalidRequest(f"{name}: the first line names no column {' and '.join(missing)}")
    for row in reader:
        yield f"line {reader.line_num}", row


def _label(place: str, row: Mapping[str, Any]) -> Label:
    request_id, gold = row.get("request_id"), row.get("gold")
    for field, value in (("request_id", request_id), ("gold", gold)):
        if not isinstance(value, str) or not value.strip():
            raise InvalidRequest(f"{place}: {field}: missing")
    return Label(place, str(request_id).strip(), str(gold).strip())


def label_all(reader: LogReader, labels: Iterable[Label], *, skip_bad: bool) -> None:
    """Note every label, in one step, and say how many there were.

    Raises:
        InvalidRequest: some cannot be used and are not to be left out; none is noted.
    """
    good, faults = [], []
    for one in labels:
        try:
            reader.check_label(one.request_id, one.gold)
            good.append((one.request_id, one.gold))
        except InvalidRequest as error:
            faults.append(f"{one.place}: {error.field}: {error}")
    if faults and not skip_bad:
        more = [f"and {len(faults) - _MOST_SHOWN} more"] if len(faults) > _MOST_SHOWN else []
        shown = [*faults[:_MOST_SHOWN], *more, "Nothing was noted; --skip-bad leaves these out"]
        raise InvalidRequest("\n".join(shown))
    reader.label_all(good)
    left_out = f", {len(faults):,} left out" if faults else ""
    say(f"{len(good):,} labels noted{left_out}.")
