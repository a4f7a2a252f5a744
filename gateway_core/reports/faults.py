"""Everything that is wrong with a configuration and its plugins, and when that is fatal."""

from collections.abc import Sequence

from gateway_core.config.switches import is_strict
from gateway_core.errors import ConfigError
from gateway_core.middleware import MiddlewareSlot, build_middleware
from gateway_core.registry import Registry


def require_sound(registry: Registry) -> None:
    """Raise every fault as one ``ConfigError`` if ``S1GW_STRICT_PLUGINS`` is on.

    What is fatal is what ``s1gw config check`` reports, whatever the gateway is opened for.
    """
    if is_strict(registry.loaded.environ) and (faults := every_fault(registry)):
        raise ConfigError(*faults)


def every_fault(registry: Registry) -> list[str]:
    """Return every fault, after building each provider and middleware in use; imports them."""
    registry.build_all()
    return known_faults(registry, build_middleware(registry.loaded, registry.catalog))


def known_faults(registry: Registry, middleware: Sequence[MiddlewareSlot]) -> list[str]:
    """Return the faults that are known so far, each once.

    Args:
        registry: the providers; one that was not needed may have a fault that nobody met.
        middleware: what was built of the middleware.
    """
    faults = (fault for slot in middleware for fault in slot.faults)
    return list(dict.fromkeys((*registry.problems, *faults)))
