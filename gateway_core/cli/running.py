"""Running what calls plugins, from a command."""

import os
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, Final, TypeVar

from gateway_core import logs

T = TypeVar("T")
_STDOUT: Final = 1
_STDERR: Final = 2


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` on an event loop of its own; see ``plugins_at_work``."""
    import asyncio

    with plugins_at_work():
        return asyncio.run(work)


@contextmanager
def plugins_at_work() -> Iterator[None]:
    """Keep stdout for the answer: what plugins print, and the log's warnings, go to stderr."""
    logs.setup(level="warning")
    with _descriptor_swapped(), redirect_stdout(sys.stderr):
        yield


@contextmanager
def _descriptor_swapped() -> Iterator[None]:
    """Let stdout's descriptor be stderr's, since native libraries do not ask ``sys.stdout``."""
    sys.stdout.flush()
    kept = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    try:
        yield
    finally:
        if sys.__stdout__ is not None and not sys.__stdout__.closed:
            sys.__stdout__.flush()
        os.dup2(kept, _STDOUT)
        os.close(kept)
