"""Everything that can be found wrong with a configuration without asking anybody."""

from gateway_core.catalog import Catalog
from gateway_core.cli.running import run
from gateway_core.config.loaded import Loaded
from gateway_core.outbound import Outbound
from gateway_core.registry import Registry
from gateway_core.reports.faults import every_fault


def all_problems(loaded: Loaded) -> list[str]:
    """Return every fault, after building each provider and middleware in use; imports them."""
    return run(_all_problems(loaded))


async def _all_problems(loaded: Loaded) -> list[str]:
    outbound = Outbound(loaded.environ)
    try:
        catalog = Catalog.installed(loaded.config.plugins.disabled)
        return every_fault(Registry(loaded, catalog, outbound))
    finally:
        await outbound.aclose()
