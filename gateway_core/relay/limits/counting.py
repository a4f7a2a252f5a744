"""The bounds of a request, and its refusal when one is reached."""

from typing import Final

import attrs
from limits import RateLimitItemPerMinute

from gateway_core.config.model import LimitsConfig
from gateway_core.errors import RelayRefused

MINUTE_S: Final = 60


@attrs.frozen(kw_only=True)
class Bound:
    """The limits of one key or one organization.

    Attributes:
        name: what its requests are counted under.
        concurrency: the most requests under way; None for no bound.
        rpm: the most requests a minute; None for no bound.
        window: the name of its counter of requests a minute.
    """

    name: str
    concurrency: int | None = None
    rpm: int | None = None
    window: str

    @classmethod
    def of(cls, name: str, limits: LimitsConfig) -> "Bound":
        """Return the bound of what is called ``name``."""
        window = RateLimitItemPerMinute(limits.rpm or 0).key_for(name)
        return cls(name=name, concurrency=limits.concurrency, rpm=limits.rpm, window=window)


def too_many(most: int) -> RelayRefused:
    """Return the refusal of one more request under way than ``most``."""
    return _exceeded(f"{most} requests at once", most, 1)


def too_often(
    most: int, previous: int, _previous_s: float, current: int, current_s: float
) -> RelayRefused:
    """Return the refusal of one more request a minute than ``most``.

    Args:
        most: the bound.
        previous: how many there were in the window before.
        current: how many there are in this one.
        current_s: what is left of this one and the next, in seconds.
    """
    return _exceeded(f"{most} requests a minute", most, _wait_s(most, previous, current, current_s))


def _wait_s(most: int, previous: int, current: int, current_s: float) -> int:
    """Return after how many whole seconds one more request fits into a sliding window counter.

    One fits once ``previous * rest / 60 + current < most``, where ``rest`` is what is left of
    this window in seconds; when it ends, ``current`` becomes ``previous``.
    """
    rest = current_s % MINUTE_S
    if current < most:
        wait = rest - (most - current) * MINUTE_S / max(previous, 1)
    else:
        wait = rest + MINUTE_S * (1 - most / current)
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
