"""Everything that can be found wrong with a configuration without asking anybody."""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial

from gateway_core.catalog import Catalog
from gateway_core.cli.running import run
from gateway_core.config.loaded import Loaded
from gateway_core.config.model import ProviderConfig
from gateway_core.errors import ConfigError
from gateway_core.middleware import build_middleware
from gateway_core.outbound import Outbound
from gateway_core.registry import Registry


def all_problems(loaded: Loaded) -> list[str]:
    """Return every fault, after building each provider and middleware in use; imports them."""
    return run(_all_problems(loaded))


async def _all_problems(loaded: Loaded) -> list[str]:
    outbound = Outbound(loaded.environ)
    try:
        catalog = Catalog.installed(loaded.config.plugins.disabled)
        registry = Registry(loaded, catalog, outbound)
        _build_all(registry)
        places = build_middleware(loaded, catalog)
        faults = (fault for place in places for fault in place.faults)
        return list(dict.fromkeys((*registry.problems, *faults)))
    finally:
        await outbound.aclose()


def _build_all(registry: Registry) -> None:
    config = registry.loaded.config
    builds = [partial(registry.provider, name) for name in _enabled(config.providers)]
    for org, table in config.orgs.items():
        builds += [partial(registry.org_provider, org, name) for name in _enabled(table.providers)]
    for build in builds:
        # What cannot be built stays among the registry's problems.
        with suppress(ConfigError):
            build()


def _enabled(tables: Mapping[str, ProviderConfig]) -> list[str]:
    return [name for name, table in tables.items() if table.enabled]
