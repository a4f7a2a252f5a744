"""What belongs to the whole process, so that a plugin that changes it changes it for all."""

import asyncio
import gc
import json
import locale
import logging
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import warnings
from asyncio import base_events, events, runners, tasks
from collections.abc import Iterator, Mapping
from typing import Final

StateByName = Mapping[str, object]
_ABSENT: Final = object()
_PATCHABLE: Final = (
    asyncio,
    base_events.BaseEventLoop,
    events,
    runners,
    tasks,
    json,
    logging.Logger,
    os,
    socket,
    socket.socket,
    ssl,
    ssl.SSLContext,
    subprocess,
    threading,
    threading.Thread,
    time,
)
"""Modules and classes whose functions everybody calls."""


def state_of_the_process() -> StateByName:
    """Return the settings of the process by their names; the values are to be compared alone."""
    pieces = (_environment(), _signals(), _logging(), _interpreter(), _functions())
    return {name: value for piece in pieces for name, value in piece}


def changes(before: StateByName, after: StateByName) -> list[str]:
    """Return the names of what is not as it was."""
    names = dict.fromkeys((*before, *after))
    return [name for name in names if before.get(name, _ABSENT) != after.get(name, _ABSENT)]


def _environment() -> Iterator[tuple[str, object]]:
    for name, value in os.environ.items():
        yield f"environment variable {name}", value


def _signals() -> Iterator[tuple[str, object]]:
    for number in signal.valid_signals():
        yield f"handler of signal {number}", _identity(signal.getsignal(number))


def _logging() -> Iterator[tuple[str, object]]:
    root = logging.getLogger()
    yield "root logger", _set_up(root)
    yield "logging.disable", root.manager.disable
    yield "logger class", logging.getLoggerClass().__qualname__
    yield "log record factory", _identity(logging.getLogRecordFactory())
    yield "logging.captureWarnings", _identity(warnings.showwarning)
    for name, logger in list(root.manager.loggerDict.items()):
        # A logger that is new may have any level; handlers of its own bypass the operator.
        if isinstance(logger, logging.Logger) and (_is_hosts(name) or _handlers(logger)):
            yield f"logger {name}", _set_up(logger)


def _is_hosts(name: str) -> bool:
    return name.partition(".")[0] == "s1gw"


def _handlers(logger: logging.Logger) -> list[int]:
    own = (one for one in logger.handlers if not isinstance(one, logging.NullHandler))
    return [id(handler) for handler in own]


def _set_up(logger: logging.Logger) -> object:
    if _is_hosts(logger.name) and not logger.handlers and not logger.level:
        return _ABSENT  # made when it is first asked for, and left as it is
    return logger.level, _handlers(logger), logger.propagate, logger.disabled, len(logger.filters)


def _interpreter() -> Iterator[tuple[str, object]]:
    policy = getattr(events, "_event_loop_policy", None)
    # Python makes its own policy when one is first asked for.
    own = policy is None or type(policy).__module__.startswith("asyncio.")
    yield "asyncio's event loop policy", None if own else _identity(policy)
    for hook in ("excepthook", "unraisablehook", "displayhook", "stdin", "stdout", "stderr"):
        yield f"sys.{hook}", _identity(getattr(sys, hook))
    yield "threading.excepthook", _identity(threading.excepthook)
    yield "sys.path", tuple(sys.path)
    yield "filter of all warnings", [each for each in warnings.filters if _is_for_all(each)]
    yield "working directory", os.getcwd()  # noqa: PTH109  # a text that is compared
    yield "default timeout of sockets", socket.getdefaulttimeout()
    yield "recursion limit", sys.getrecursionlimit()
    yield "switch interval", sys.getswitchinterval()
    yield "garbage collection", (gc.isenabled(), gc.get_threshold())
    yield "locale", locale.setlocale(locale.LC_ALL)


def _is_for_all(found: tuple[object, ...]) -> bool:
    """Say whether a filter is not for the warnings of one library, or of one kind, alone."""
    _, message, category, module, _ = found
    return message is None and module is None and category is Warning


def _functions() -> Iterator[tuple[str, object]]:
    for place in _PATCHABLE:
        for name, value in list(vars(place).items()):
            if callable(value) and not name.startswith("_"):
                yield f"{place.__name__}.{name}", _identity(value)


def _identity(value: object) -> object:
    return value if isinstance(value, int | str | None) else id(value)
