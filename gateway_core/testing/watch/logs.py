"""Every log line that the process makes, wherever it would go."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

_USUAL: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


@contextmanager
def warning_texts() -> Iterator[list[str]]:
    """Collect the texts of warnings, and give the warnings when the block has ended.

    Who reads them sees them on stderr, as a gateway shows those of plugins.
    """
    texts: list[str] = []
    try:
        with warnings.catch_warnings(record=True) as found:
            yield texts
    finally:
        for each in found:
            texts.append(str(each.message))
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


@contextmanager
def log_lines() -> Iterator[list[str]]:
    """Collect the lines of every logger at every level: message, traceback and extra fields.

    They are taken where loggers make their records, so that those with handlers of their own, or
    that do not propagate, are heard, too.
    """
    lines: list[str] = []
    make = logging.Logger.makeRecord

    def noted(logger: logging.Logger, *arguments: Any, **named: Any) -> logging.LogRecord:
        record = make(logger, *arguments, **named)
        lines.append(_line(record))
        lines.extend(str(vars(record)[name]) for name in vars(record).keys() - _USUAL)
        return record

    root = logging.getLogger()
    level, disabled = root.level, root.manager.disable
    logging.Logger.makeRecord = noted  # type: ignore[method-assign,assignment]
    root.setLevel(logging.DEBUG)
    logging.disable(logging.NOTSET)
    try:
        yield lines
    finally:
        logging.Logger.makeRecord = make  # type: ignore[method-assign]
        root.setLevel(level)
        logging.disable(disabled)


def _line(record: logging.LogRecord) -> str:
    try:
        return logging.Formatter().format(record)
    except (TypeError, ValueError):
        return f"{record.msg} {record.args}"  # its arguments do not fit; logging tells that itself
