"""Which limits a caller is under, and the block in which its request counts."""

from collections.abc import Sequence
from types import TracebackType

from gateway_core.config.model import Config, LimitsConfig
from gateway_core.relay.callers import Caller
from gateway_core.relay.limits.counting import Bound
from gateway_core.relay.limits.limiter import Limiter
from gateway_core.relay.limits.store import Entry


def bounds_of(caller: Caller, config: Config) -> Sequence[Bound]:
    """Return the limits of a caller's key, then those of its organization."""
    bounds = []
    if _bounded(caller.limits):
        bounds.append(Bound.of(f"key:{caller.key_id}", caller.limits))
    org = config.orgs.get(caller.org) if caller.org is not None else None
    if org is not None and _bounded(org.limits):
        bounds.append(Bound.of(f"org:{caller.org}", org.limits))
    return bounds


class Admission:
    """A request that counts against its limits while the block runs."""

    __slots__ = ("_bounds", "_entry", "_limiter")

    def __init__(self, limiter: Limiter, bounds: Sequence[Bound]) -> None:
        self._limiter = limiter
        self._bounds = bounds
        self._entry: Entry | None = None

    async def __aenter__(self) -> None:
        """Enter; raise ``RelayRefused`` ``rate_limit_exceeded`` when a limit is reached."""
        if self._bounds:
            self._entry = await self._limiter.enter(self._bounds)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give back what the request held."""
        if self._entry is not None:
            await self._limiter.leave(self._entry)


def _bounded(limits: LimitsConfig) -> bool:
    return limits.rpm is not None or limits.concurrency is not None
