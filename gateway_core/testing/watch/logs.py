"""Every log line that the process makes, wherever it would go."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

_USUAL: Final = frozenset(vars(logging.makeLogRecord({})))


@contextmanager
def log_lines() -> Iterator[list[str]]:
    """Collect the lines of every logger at every level: message, traceback and extra fields.

    They are taken where records are made, so that loggers with handlers of their own, or that
    do not propagate, are heard, too.
    """
    lines: list[str] = []
    make = logging.getLogRecordFactory()

    def noted(*arguments: Any, **named: Any) -> logging.LogRecord:
        record = make(*arguments, **named)
        lines.append(_line(record))
        return record

    root = logging.getLogger()
    level, disabled = root.level, root.manager.disable
    handler = _Extras(lines)
    logging.setLogRecordFactory(noted)
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield lines
    finally:
        logging.setLogRecordFactory(make)
        root.removeHandler(handler)
        root.setLevel(level)
        root.manager.disable = disabled


class _Extras(logging.Handler):
    """Notes what ``extra`` adds to records after they are made."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        extras = vars(record).keys() - _USUAL - {"message", "asctime"}
        self._lines.extend(str(vars(record)[name]) for name in extras)


def _line(record: logging.LogRecord) -> str:
    try:
        return logging.Formatter().format(record)
    except (TypeError, ValueError):
        return f"{record.msg} {record.args}"  # its arguments do not fit; logging tells that itself
