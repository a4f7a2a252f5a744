"""One bound of a request, counted in one store."""

from typing import Final

import attrs
from limits import RateLimitItemPerMinute

from gateway_core.config.model import LimitsConfig
from gateway_core.errors import RelayRefused
from gateway_core.relay.limits.store import Store

_MINUTE_S: Final = 60


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


async def take_slot(store: Store, bound: Bound, most: int) -> str:
    """Take one of ``most`` slots; raise ``RelayRefused`` when there is none."""
    slot = await store.slots.take(bound.name, most)
    if slot is None:
        raise _exceeded(f"{most} requests at once", most, 1)
    return slot


async def count(store: Store, bound: Bound, most: int) -> None:
    """Count a request; raise ``RelayRefused`` when there were ``most`` within a minute."""
    if not await store.windows.acquire_sliding_window_entry(bound.window, most, _MINUTE_S):
        window = await store.windows.get_sliding_window(bound.window, _MINUTE_S)
        raise _exceeded(f"{most} requests a minute", most, _wait_s(most, *window))


def _wait_s(most: int, previous: int, _previous_s: float, current: int, current_s: float) -> int:
    """Return after how many whole seconds one more request fits into a sliding window counter.

    One fits once ``previous * rest / 60 + current < most``, where ``rest`` is what is left of
    this window in seconds; when it ends, ``current`` becomes ``previous``.
    """
    rest = current_s % _MINUTE_S
    if current < most:
        wait = rest - (most - current) * _MINUTE_S / max(previous, 1)
    else:
        wait = rest + _MINUTE_S * (1 - most / current)
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
