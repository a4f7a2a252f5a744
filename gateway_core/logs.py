"""Lines to stderr, each with the id of the request it belongs to; stdout carries protocols."""

import json
import logging
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, TextIO

request_id: ContextVar[str] = ContextVar("request_id", default="-")
ROOT: Final = "s1gw"
_FIELDS: Final = "s1gw_fields"
_QUIET: Final = ("mcp", "httpx")
"""Libraries whose log lines may hold what callers and upstreams sent."""


def stamp(seconds: float) -> str:
    """Return a time, in seconds of the epoch, as lines have it: UTC, to the millisecond."""
    whole, fraction = divmod(seconds, 1)
    return f"{_second(whole)}.{int(1000 * fraction):03}+00:00"


@lru_cache(maxsize=1)
def _second(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def visible(text: str) -> str:
    """Return ``text`` with everything that is not printed escaped as in Python.

    That is what ends a line or hides another, such as U+2028 and the signs for right-to-left
    text: a line of the log is one line, and says what it shows.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def visible_json(text: str) -> str:
    """Return one line of JSON with the same characters escaped as JSON has it."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def fields(**values: object) -> dict[str, object]:
    """Return named values for a line, as ``extra`` of a call of a logger; None is left out."""
    kept = {name: value for name, value in values.items() if value is not None}
    return {_FIELDS: kept}


def _fields_of(record: logging.LogRecord) -> dict[str, object]:
    found: dict[str, object] = getattr(record, _FIELDS, {})
    return found


class TextFormatter(logging.Formatter):
    """One readable line: time, level, request id, message."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line for ``record``; exceptions show their type alone."""
        level = record.levelname.lower()
        more = "".join(f" {name}={value}" for name, value in _fields_of(record).items())
        message = f"{record.name}: {record.getMessage()}{more}"
        return visible(f"{stamp(record.created)} {level} [{request_id.get()}] {message}")


class JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the object for ``record``; exceptions show their type alone."""
        line = {
            "time": stamp(record.created),
            "level": record.levelname.lower(),
            "request_id": request_id.get(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields_of(record),
        }
        return visible_json(json.dumps(line, ensure_ascii=False))


class _Lines(logging.StreamHandler[TextIO]):
    """The one way to stderr; a second ``setup`` replaces the first one's."""


def setup(style: str = "text", level: str = "info") -> None:
    """Send the gateway's log, and the warnings of plugins and libraries, to stderr.

    Args:
        style: ``text`` or ``json`` lines.
        level: the least important of the gateway's own lines that are shown.
    """
    handler = _Lines(sys.stderr)
    handler.setFormatter(JsonFormatter() if style == "json" else TextFormatter())
    own, root = logging.getLogger(ROOT), logging.getLogger()
    for logger in (own, root):
        others = [known for known in logger.handlers if not isinstance(known, _Lines)]
        logger.handlers[:] = [*others, handler]
    own.setLevel(level.upper())
    own.propagate = False
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.CRITICAL)
