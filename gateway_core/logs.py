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
_QUIET: Final = ("mcp", "httpx")
"""Libraries whose log lines may hold what callers and upstreams sent."""


def stamp(seconds: float) -> str:
    """Return a time, in seconds of the epoch, as lines have it: UTC, to the millisecond."""
    whole, fraction = divmod(seconds, 1)
    return f"{_second(whole)}.{int(1000 * fraction):03}+00:00"


@lru_cache(maxsize=1)
def _second(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def one_line(text: str) -> str:
    """Return a caller's text so that no line break in it can forge a line of the log."""
    return text if text.isprintable() else ascii(text)[1:-1]


class TextFormatter(logging.Formatter):
    """One readable line: time, level, request id, message."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line for ``record``; exceptions show their type alone."""
        level = record.levelname.lower()
        message = record.getMessage().replace("\n", "\\n")
        return f"{stamp(record.created)} {level} [{request_id.get()}] {record.name}: {message}"


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
        }
        return json.dumps(line, ensure_ascii=False)


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
