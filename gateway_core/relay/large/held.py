"""How much memory the bodies of all requests may take together, and who gives way."""

from collections.abc import Callable
from types import TracebackType

from gateway_core.errors import RelayRefused


class Held:
    """The bytes of all bodies that are held, by tenant.

    Where there is no room for more, it is the tenant with the most that gives way: its body that
    is still coming in is dropped, or the one for which the room is asked.
    """

    def __init__(self, most: int) -> None:
        """Hold at most ``most`` bytes."""
        self._most = most
        self._sum = 0
        self._tenants: dict[str, int] = {}
        self._incoming: dict[str, dict[Share, None]] = {}

    @property
    def sum(self) -> int:
        """The bytes that are held."""
        return self._sum

    def share(self, tenant: str, drop: Callable[[], None]) -> "Share":
        """Return the share of one body, a block; ``drop`` frees what it holds so far."""
        return Share(self, tenant, drop)

    def change(self, share: "Share", size: int) -> None:
        """Let a share hold ``size`` bytes from now on.

        Raises:
            RelayRefused: ``provider_overloaded``: it has to give way.
        """
        while self._sum - share.size + size > self._most and size > share.size:
            self._make_room(share, size - share.size)
        self._set(share, size)

    def begin(self, share: "Share") -> None:
        """Count a share among those whose bodies are still coming in, and may be dropped."""
        self._incoming.setdefault(share.tenant, {})[share] = None

    def settle(self, share: "Share") -> None:
        """Take a share for one that is in use, and stays."""
        incoming = self._incoming.get(share.tenant)
        if incoming is not None:
            incoming.pop(share, None)
            if not incoming:
                del self._incoming[share.tenant]

    def _make_room(self, asking: "Share", more: int) -> None:
        totals = self._tenants | {
            asking.tenant: self._tenants.get(asking.tenant, 0) + more,
        }
        for tenant in sorted(totals, key=totals.__getitem__, reverse=True):
            if tenant == asking.tenant:
                break
            for share in reversed(self._incoming.get(tenant, {})):
                if share.size:
                    share.drop()
                    return
        raise no_room()

    def _set(self, share: "Share", size: int) -> None:
        more = size - share.size
        self._sum += more
        total = self._tenants.get(share.tenant, 0) + more
        if total:
            self._tenants[share.tenant] = total
        else:
            self._tenants.pop(share.tenant, None)
        share.size = size

    def release(self, share: "Share") -> None:
        """Let a share hold nothing."""
        self.settle(share)
        self._set(share, 0)


class Share:
    """What one body holds while its block runs.

    Attributes:
        tenant: whose body it is.
        size: the bytes that it holds.
    """

    def __init__(self, held: Held, tenant: str, drop: Callable[[], None]) -> None:
        """Begin with nothing."""
        self.tenant = tenant
        self.size = 0
        self._held = held
        self._drop = drop
        self._dropped = False

    def __enter__(self) -> "Share":
        self._held.begin(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._held.release(self)

    def grow(self, size: int) -> None:
        """Hold ``size`` bytes from now on.

        Raises:
            RelayRefused: ``provider_overloaded``: there is no room, or what was held is dropped.
        """
        if self._dropped:
            raise no_room()
        self._held.change(self, size)

    def settle(self) -> None:
        """Stay from now on: the body is whole.

        Raises:
            RelayRefused: ``provider_overloaded``: it is dropped already.
        """
        if self._dropped:
            raise no_room()
        self._held.settle(self)

    def drop(self) -> None:
        """Free what is held, for a tenant that has less."""
        self._dropped = True
        self._held.release(self)
        self._drop()


def no_room() -> RelayRefused:
    """Return the refusal of a body for which there is no memory now."""
    return RelayRefused(
        "provider_overloaded",
        "the gateway holds as many request bodies as it may (http.max_held_bytes)",
        headers={"retry-after": "1"},
    )
