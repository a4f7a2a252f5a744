"""Everything that is wrong with a configuration and its plugins, and when that is fatal."""

from collections.abc import Iterator, Sequence

from gateway_core.config.model import DecisionLogConfig
from gateway_core.config.switches import is_strict
from gateway_core.errors import ConfigError
from gateway_core.files import why_unwritable
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
    # Who neither checks nor is strict does not pay for it.
    from gateway_core.outbound.environment import environment_faults

    registry.build_all()
    loaded = registry.loaded
    faults = [
        *known_faults(registry, build_middleware(loaded, registry.catalog)),
        *registry.hindrances,
        *unknown_names(registry),
        *_decision_log_faults(loaded.config.decision_log),
        *environment_faults(loaded.environ),
    ]
    return list(dict.fromkeys(map(loaded.located, faults)))


def known_faults(registry: Registry, middleware: Sequence[MiddlewareSlot]) -> list[str]:
    """Return the faults that are known so far, each once.

    Args:
        registry: the providers; one that was not needed may have a fault that nobody met.
        middleware: what was built of the middleware.
    """
    faults = (fault for slot in middleware for fault in slot.faults)
    lines = (*registry.problems, *faults)
    return list(dict.fromkeys(map(registry.loaded.located, lines)))


def unknown_names(registry: Registry) -> list[str]:
    """Name the tables that speak of providers which could never be asked."""
    config = registry.loaded.config
    known = {candidate.name for candidate in registry.plan.candidates} | config.providers.keys()
    known.update(registry.catalog.available())
    tables = {
        "decide.thresholds": config.decide.thresholds,
        "decide.order_check": config.decide.order_check,
        "decide.tournament": config.decide.tournament,
        "decision_log.shadow": config.decision_log.shadow,
    }
    return [
        f"{path}: there is no provider {name!r}"
        for path, names in tables.items()
        for name in names
        if name not in known and registry.catalog.claim("vendor", name) is None
    ]


def _decision_log_faults(settings: DecisionLogConfig) -> Iterator[str]:
    if settings.shadow and not settings.enabled:
        yield "decision_log.shadow: needs decision_log.enabled = true"
    if settings.enabled and settings.path is not None and (fault := why_unwritable(settings.path)):
        yield f"decision_log.path: {fault}"
