"""Lines to stderr, each with the id of the request it belongs to; stdout carries protocols."""

import json
import logging
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Final

request_id: ContextVar[str] = ContextVar("request_id", default="-")
ROOT: Final = "s1gw"


class TextFormatter(logging.Formatter):
    """One readable line: time, level, request id, message."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line for ``record``; exceptions show their type alone."""
        stamp = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        level = record.levelname.lower()
        return f"{stamp} {level} [{request_id.get()}] {record.name}: {record.getMessage()}"


class JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the object for ``record``; exceptions show their type alone."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "request_id": request_id.get(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        return json.dumps(line, ensure_ascii=False)


def setup(style: str = "text", level: str = "info") -> None:
    """Send the gateway's log to stderr as ``text`` or ``json`` lines, once per process."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if style == "json" else TextFormatter())
    logger = logging.getLogger(ROOT)
    logger.handlers[:] = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False
