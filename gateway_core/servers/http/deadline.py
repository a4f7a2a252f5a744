"""How long a client may take, and a deadline that is moved often and hardly ever reached."""

import asyncio
from collections.abc import Callable
from math import inf

import attrs


@attrs.frozen(kw_only=True)
class ClientTimeouts:
    """How long a client may take with what, in seconds.

    Attributes:
        keep_alive_s: to begin with its next request.
        head_s: to send a request's head.
        body_s: to send its body.
        linger_s: to send the rest of what has its reply already.
        send_s: to take anything of a reply.
    """

    keep_alive_s: float = 75.0
    head_s: float = 20.0
    body_s: float = 120.0
    linger_s: float = 5.0
    send_s: float = 60.0


class Deadline:
    """Calls ``expire`` once the time is over that was set last.

    Moving it later costs no timer: the one that is armed finds out when it fires.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, expire: Callable[[], None]) -> None:
        """Prepare, with nothing due."""
        self._loop = loop
        self._expire = expire
        self._due = inf
        self._armed_for = inf
        self._timer: asyncio.TimerHandle | None = None

    def set(self, seconds: float) -> None:
        """Let the time be over in ``seconds``."""
        self._due = due = self._loop.time() + seconds
        if due < self._armed_for:
            self._arm()

    def within(self, seconds: float) -> None:
        """Let the time be over in ``seconds``, unless it is before that."""
        if self._loop.time() + seconds < self._due:
            self.set(seconds)

    def clear(self) -> None:
        """Let nothing be due."""
        self._due = inf

    def stop(self) -> None:
        """Let nothing be due ever again."""
        self._due = inf
        if self._timer is not None:
            self._timer.cancel()

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._armed_for = self._due
        self._timer = self._loop.call_at(self._due, self._fire)

    def _fire(self) -> None:
        self._timer, self._armed_for = None, inf
        if self._loop.time() >= self._due:
            self._due = inf
            self._expire()
        elif self._due < inf:
            self._arm()
