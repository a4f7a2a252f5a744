"""Running what calls plugins, from a command."""

import os
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import IO, Any, Final, TypeVar

import attrs

from gateway_core import logs

T = TypeVar("T")
_STDOUT: Final = 1
_STDERR: Final = 2


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` on an event loop of its own; see ``plugins_at_work``."""
    import asyncio

    with plugins_at_work():
        return asyncio.run(work)


@attrs.frozen
class GuardedStdout:
    """Stdout, which the answer gets even while plugins are at work.

    Attributes:
        stream: what the command prints to.
        descriptor: a copy of stdout's descriptor.
    """

    stream: IO[str]
    descriptor: int

    @contextmanager
    def now(self) -> Iterator[None]:
        """Let what is printed in the block go to stdout."""
        # What a plugin has left in the stream is not the answer.
        self.stream.flush()
        os.dup2(self.descriptor, _STDOUT)
        try:
            with redirect_stdout(self.stream):
                yield
                self.stream.flush()
        finally:
            os.dup2(_STDERR, _STDOUT)


@contextmanager
def plugins_at_work() -> Iterator[GuardedStdout]:
    """Keep stdout for the answer: what plugins print, and the log's warnings, go to stderr."""
    logs.setup(level="warning")
    stream = sys.stdout
    with _descriptor_swapped() as kept, redirect_stdout(sys.stderr):
        yield GuardedStdout(stream, kept)


@contextmanager
def _descriptor_swapped() -> Iterator[int]:
    """Let stdout's descriptor be stderr's, since native libraries do not ask ``sys.stdout``."""
    sys.stdout.flush()
    kept = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    try:
        yield kept
    finally:
        if sys.__stdout__ is not None and not sys.__stdout__.closed:
            sys.__stdout__.flush()
        os.dup2(kept, _STDOUT)
        os.close(kept)
