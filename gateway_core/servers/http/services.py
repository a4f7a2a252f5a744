"""What the handlers work with, opened once on each process's event loop."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import attrs

from gateway_core.catalog import Catalog
from gateway_core.config.loaded import Loaded
from gateway_core.config.model import Config
from gateway_core.door.door import Door
from gateway_core.door.keys.store import KeyStore
from gateway_core.gateway import Gateway
from gateway_core.outbound import Outbound, WayOut
from gateway_core.registry import Registry
from gateway_core.relay.relay import Relay
from gateway_core.reports.faults import require_sound
from gateway_core.servers.http.kept import Kept
from gateway_core.servers.http.tenants import TenantGateways

_log: Final = logging.getLogger("s1gw.http")
_NOT_LOGGED: Final = (
    "decision_log.enabled: what organizations ask of their own providers is not logged"
)


@attrs.frozen(eq=False, kw_only=True)
class Services:
    """One process's share of the gateway.

    Attributes:
        registry: the providers.
        keys: the gateway's keys; None when authentication is disabled.
        door: what every caller passes.
        relay: what relays bodies.
        tenants: who answers questions.
        kept: what outlasts this configuration.
    """

    registry: Registry
    keys: KeyStore | None
    door: Door
    relay: Relay
    tenants: TenantGateways
    kept: Kept = attrs.field(factory=Kept)


@asynccontextmanager
async def open_services(
    loaded: Loaded,
    kept: Kept | None = None,
    *,
    outbound: WayOut | None = None,
    keys_path: Path | None = None,
) -> AsyncIterator[Services]:
    """Open what ``loaded`` asks for, and close it in the end.

    Args:
        loaded: the configuration.
        kept: what the process keeps from the configuration before; by default nothing.
        outbound: the way out of the providers; the network's when absent.
        keys_path: the file of the gateway's keys; the one in its state when absent.

    Raises:
        ConfigError: the keys cannot be read, the store of limits cannot be used, or
            ``S1GW_STRICT_PLUGINS`` makes a fault fatal.
        RelayRefused: the process is short of descriptors or memory already.
    """
    http = loaded.config.http
    kept = kept or Kept()
    async with AsyncExitStack() as stack:
        keys, operator = None, None
        if http.auth == "disabled":
            operator = await stack.enter_async_context(
                Gateway.serving(loaded.for_strangers(), outbound=outbound)
            )
            registry = operator.parts.registry
        else:
            keys = KeyStore(keys_path)
            registry = _registry(loaded, outbound or Outbound(loaded.environ), stack)
            if loaded.config.decision_log.enabled:
                _log.warning("%s", _NOT_LOGGED)
        counting = kept.limiter(http, _longest_call_s(loaded.config))
        limiter = await stack.enter_async_context(counting)
        tenants = TenantGateways(registry, operator, (http.host, *http.allowed_hosts), keys)
        stack.push_async_callback(tenants.aclose)
        door = Door(loaded.config, keys, limiter, kept.bounds)
        relay = Relay(registry, door)
        stack.push_async_callback(relay.aclose)
        if keys is not None:
            # In a thread: plugins are imported, and what a first call finds is built then.
            await asyncio.to_thread(relay.prepare)
        yield Services(
            registry=registry, keys=keys, door=door, relay=relay, tenants=tenants, kept=kept
        )


def _longest_call_s(config: Config) -> float:
    tables = (table for org in config.orgs.values() for table in org.providers.values())
    limits = (table.timeout_s or 0.0 for table in tables)
    return max((config.decide.deadline_s, *limits))


def _registry(loaded: Loaded, outbound: WayOut, stack: AsyncExitStack) -> Registry:
    stack.push_async_callback(outbound.aclose)
    registry = Registry(loaded, Catalog.installed(loaded.config.plugins.disabled), outbound)
    require_sound(registry)
    return registry
