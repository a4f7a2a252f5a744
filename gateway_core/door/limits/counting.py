# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""The bounds of requests, what is counted under them here, and the refusal when one is reached."""

from typing import Final

from gateway_core.errors import RelayRefused

MINUTE_S: Final = 60


class Bound:
    """The limits of one key or one organization, and the requests of this process under them.

    Attributes:
        name: what its requests are counted under.
        concurrency: the most requests under way; None for no bound.
        rpm: the most requests a minute; None for no bound.
        under_way: the requests under way.
        minute: the number of the minute, on the limiter's clock, in which a request was counted
            last.
        current: the requests of that minute.
        previous: the requests of the minute before it.
    """

    __slots__ = ("concurrency", "current", "minute", "name", "previous", "rpm", "under_way")

    def __init__(self, name: str, concurrency: int | None = None, rpm: int | None = None) -> None:
        """Begin with nothing counted."""
        self.name = name
        self.concurrency = concurrency
        self.rpm = rpm
        self.under_way = 0
        self.minute = -1.0
        self.current = 0
        self.previous = 0

    def turn_to(self, minute: float) -> None:
        """Begin to count in another minute."""
        self.previous = self.current if self.minute == minute - 1 else 0
        self.current = 0
        self.minute = minute


Bounds = tuple[Bound, ...]
"""What one request counts against; the first has its say first."""


def too_many(most: int) -> RelayRefused:
    """Return the refusal of one more request under way than ``most``."""
    return _exceeded(f"{most} requests at once", most, 1)


def too_often(most: int, previous: int, current: int, rest_s: float) -> RelayRefused:
    """Return the refusal of one more request a minute than ``most``.

    Args:
        most: the bound.
        previous: how many there were in the window before.
        current: how many there are in this one.
        rest_s: what is left of this one, in seconds.
    """
    return _exceeded(f"{most} requests a minute", most, _wait_s(most, previous, current, rest_s))


def _wait_s(most: int, previous: int, current: int, rest_s: float) -> int:
    """Return after how many whole seconds one more request fits into a sliding window counter.

    One fits once ``previous * rest_s / 60 + current < most``; when this window ends, ``current``
    becomes ``previous``.
    """
    if current < most:
        wait = rest_s - (most - current) * MINUTE_S / max(previous, 1)
    else:
        wait = rest_s + MINUTE_S * (1 - most / current)
    return int(max(wait, 0)) + 1


def _exceeded(what: str, most: int, wait_s: int) -> RelayRefused:
    return RelayRefused(
        "rate_limit_exceeded",
        f"the limit of {what} is reached",
        headers={
            "retry-after": str(wait_s),
            "x-ratelimit-limit": str(most),
            "x-ratelimit-remaining": "0",
            "x-ratelimit-reset": str(wait_s),
        },
    )
