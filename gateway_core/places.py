"""Where in a stranger's code something happened: a file and a line, never what was said there.

The text of an exception may hold a question or a key. A place holds neither.
"""

import sysconfig
from collections.abc import Iterator
from pathlib import PurePath
from types import FrameType, TracebackType
from typing import Final

_HOSTS: Final = ("gateway_core", "pluggy", "importlib", "_frozen_importlib")
_PYTHON: Final = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
_INSTALLED: Final = ("site-packages", "dist-packages")
_MOST: Final = 3
"""How many members of an exception group are located."""


def place_of(error: BaseException) -> str:
    """Return where ``error`` was raised, such as ``" at s1gw_acme/provider.py, line 25"``.

    That is the innermost line of the plugin that was at work, and where it differs the line of
    the library that raised. The answer begins with a space and is empty when no line is known.
    Members of an exception group have the places, not the group.
    """
    found = dict.fromkeys(_place(leaf.__traceback__) for leaf in _leaves(error))
    places = [place for place in found if place][:_MOST]
    return f" at {' and at '.join(places)}" if places else ""


def is_python(file: str) -> bool:
    """Say whether a source file belongs to Python itself."""
    parts = PurePath(file).parts
    return file.startswith("<frozen") or (
        file.startswith(_PYTHON) and not any(name in parts for name in _INSTALLED)
    )


def is_host(module: str) -> bool:
    """Say whether a module is the host's, or one through which the host calls plugins."""
    return module.partition(".")[0] in _HOSTS


def strangers_line(frame: FrameType | None) -> str | None:
    """Return the innermost line of a running thread that is not Python's own.

    None when there is none, or when it is the host's: then the host is at work.
    """
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if not is_python(frame.f_code.co_filename):
            return None if is_host(module) else _line(frame, frame.f_lineno)
        frame = frame.f_back
    return None


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _place(trace: TracebackType | None) -> str:
    steps = [(step.tb_frame, step.tb_lineno) for step in _steps(trace)]
    strange = [(frame, line) for frame, line in steps if not _known(frame)]
    if not steps:
        return ""
    raised = _line(*steps[-1])
    if not strange:
        return raised
    # The first stranger is the plugin: what it calls are its libraries.
    own = [(frame, line) for frame, line in strange if _package(frame) == _package(strange[0][0])]
    place = _line(*own[-1])
    return place if place == raised else f"{place} (raised in {raised})"


def _steps(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _known(frame: FrameType) -> bool:
    return is_host(_module(frame)) or is_python(frame.f_code.co_filename)


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _package(frame: FrameType) -> str:
    return _module(frame).partition(".")[0]


def _line(frame: FrameType, line: int) -> str:
    """Name the file by its last two parts at most: a path may show who the user is."""
    file = PurePath(frame.f_code.co_filename)
    depth = 2 if "." in _module(frame) or file.name == "__init__.py" else 1
    return f"{'/'.join(file.parts[-depth:])}, line {line}"
