"""Entries of the decision log as a person sees them, and as they come."""

import json
import select
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway_core.cli.terminal import more_rows, percent, say, table
from gateway_core.decisionlog.reader import LogReader

_HEADING: Final = ("when (UTC)", "request", "provider", "status", "decision", "confidence", "gold")
_LOOK_S: Final = 0.25


def print_entries(entries: Sequence[Mapping[str, Any]]) -> list[int]:
    """Print a table of entries; return the widths of its columns."""
    return table([_row(entry) for entry in entries], _HEADING)


def follow(reader: LogReader, count: int, *, as_json: bool) -> None:
    """Print the last entries and go on with new ones until Ctrl-C, or until nobody reads on."""
    widths: list[int] = []
    try:
        for entries in reader.follow(count):
            if as_json:
                for entry in entries:
                    say(json.dumps(entry, ensure_ascii=False))
            else:
                widths = _go_on(entries, widths)
            if _nobody_reads():
                return
            time.sleep(_LOOK_S)
    except KeyboardInterrupt:
        return


def _go_on(entries: Sequence[Mapping[str, Any]], widths: list[int]) -> list[int]:
    if not widths:
        return print_entries(entries)
    return more_rows([_row(entry) for entry in entries], widths)


def _nobody_reads() -> bool:
    """Return whether stdout is a pipe whose other end is closed; Windows cannot tell."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return bool(poll.poll(0))


def _row(entry: Mapping[str, Any]) -> list[str]:
    confidence = entry["confidence"]
    shown = (
        entry["logged_at"][:19].replace("T", " "),
        entry["request_id"],
        f"{entry['provider'] or '-'}{' (shadow)' if entry['role'] == 'shadow' else ''}",
        entry["status"] if entry["reason"] is None else f"{entry['status']}: {entry['reason']}",
        "-" if entry["decision"] is None else str(entry["decision"]),
        "-" if confidence is None else percent(confidence),
        "-" if entry["gold"] is None else str(entry["gold"]),
    )
    return list(shown)
