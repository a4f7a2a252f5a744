"""Running what calls plugins, from a command."""

import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TypeVar

from gateway_core import logs

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` on an event loop of its own; see ``plugins_at_work``."""
    import asyncio

    with plugins_at_work():
        return asyncio.run(work)


@contextmanager
def plugins_at_work() -> Iterator[None]:
    """Keep stdout for the answer: what plugins print, and the log's warnings, go to stderr."""
    logs.setup(level="warning")
    with redirect_stdout(sys.stderr):
        yield
