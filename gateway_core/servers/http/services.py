"""What the handlers work with, opened once on each process's event loop."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import attrs

from gateway_core.catalog import Catalog
from gateway_core.config.model import Loaded
from gateway_core.outbound import Outbound
from gateway_core.registry import Registry
from gateway_core.relay.keys.store import KeyStore
from gateway_core.relay.limits.limiter import open_limiter
from gateway_core.relay.relay import Relay


@attrs.frozen(eq=False, kw_only=True)
class Services:
    """One process's share of the gateway.

    Attributes:
        relay: what relays bodies, and says who calls.
        registry: the providers.
    """

    relay: Relay
    registry: Registry

    @property
    def can_serve(self) -> bool:
        """Whether anybody could be sent anything at all."""
        owners = self.registry.loaded.config.orgs.values()
        return bool(self.registry.plan.chain) or any(owner.providers for owner in owners)


@asynccontextmanager
async def open_services(loaded: Loaded) -> AsyncIterator[Services]:
    """Open what ``loaded`` asks for, and close it in the end.

    Raises:
        ConfigError: the keys cannot be read, or the store of limits cannot be used.
    """
    http = loaded.config.http
    keys = None if http.auth == "disabled" else KeyStore()
    limiter = open_limiter(http)
    outbound = Outbound(loaded.environ)
    registry = Registry(loaded, Catalog.installed(loaded.config.plugins.disabled), outbound)
    try:
        yield Services(relay=Relay(registry, keys, limiter), registry=registry)
    finally:
        await outbound.aclose()
        await limiter.aclose()
