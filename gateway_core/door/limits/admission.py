"""Which limits a caller is under."""

from collections.abc import Iterator, Mapping

from gateway_core.config.model import LimitsConfig, OrgConfig
from gateway_core.door.callers import Caller
from gateway_core.door.limits.counting import Bound, Bounds


class BoundTable:
    """The bounds of all callers: one for each name, whatever becomes of its key meanwhile."""

    def __init__(
        self, orgs: Mapping[str, OrgConfig], known: dict[str, Bound] | None = None
    ) -> None:
        """Take the organizations, with the limits of each, and the bounds known before."""
        self._orgs = orgs
        self._known = {} if known is None else known

    def of(self, caller: Caller) -> Bounds:
        """Return the limits of a caller's key, then those of its organization."""
        return tuple(self._bounds(caller))

    def _bounds(self, caller: Caller) -> Iterator[Bound]:
        if caller.limits.bounded:
            yield self._bound(f"key:{caller.key_id}", caller.limits)
        org = self._orgs.get(caller.org) if caller.org is not None else None
        if org is not None and org.limits.bounded:
            yield self._bound(f"org:{caller.org}", org.limits)

    def _bound(self, name: str, limits: LimitsConfig) -> Bound:
        # Requests that are under way leave the bound that they entered, so it must be the same.
        bound = self._known.setdefault(name, Bound(name=name))
        bound.concurrency, bound.rpm = limits.concurrency, limits.rpm
        return bound
