"""The calls over ``/mcp`` that have no reply yet, so that their own client can cancel them."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_urlsafe
from typing import Final

import attrs

SESSION: Final = b"mcp-session-id"


def new_session() -> bytes:
    """Return an id for a client; whoever knows it can cancel that client's calls."""
    return token_urlsafe(24).encode("ascii")


@attrs.frozen
class CallId:
    """What tells one call from all others.

    Attributes:
        key: the id of the caller's key, if callers need keys.
        session: what ``initialize`` gave the client; None if it does not say.
        request: the id of the request, which every client counts from the same number.
    """

    key: str | None
    session: bytes | None
    request: str


class Calls:
    """The calls under way in one process."""

    def __init__(self) -> None:
        self._tasks: dict[CallId, asyncio.Task[None]] = {}

    @contextmanager
    def under_way(self, call: CallId, task: "asyncio.Task[None]") -> Iterator[None]:
        """Let the call be cancelled while the block runs; never without its client's session."""
        if call.session is None:
            yield
            return
        self._tasks[call] = task
        try:
            yield
        finally:
            if self._tasks.get(call) is task:
                del self._tasks[call]

    def cancel(self, call: CallId) -> bool:
        """Cancel a call; say whether it was under way."""
        task = self._tasks.get(call)
        return task is not None and task.cancel()
