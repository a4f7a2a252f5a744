"""From a configuration to the parts of a gateway, and to what answers its calls."""

from collections.abc import Sequence

import attrs

from gateway_core.calibration import Calibrator, Thresholds
from gateway_core.catalog import Catalog
from gateway_core.config.loaded import Loaded
from gateway_core.config.paths import state_dir_to_read
from gateway_core.decide import Answerer, Chain, Cooldowns, Decider, Link, Observer, VerdictRules
from gateway_core.errors import ConfigError
from gateway_core.middleware import Layer, Layers, MiddlewareSlot, build_middleware
from gateway_core.outbound import WayOut
from gateway_core.passing import is_passing
from gateway_core.pause import Pause
from gateway_core.registry import Registry
from gateway_core.reports import GatewayParts
from gateway_core.reports.faults import unknown_names


def operators_parts(loaded: Loaded, outbound: WayOut) -> GatewayParts:
    """Return the parts of the gateway that a configuration describes.

    Args:
        loaded: the configuration, broken parts included.
        outbound: the way out that its providers share.
    """
    decide, state = loaded.config.decide, state_dir_to_read(loaded.environ)
    catalog = Catalog.installed(loaded.config.plugins.disabled)
    registry = Registry(loaded, catalog, outbound)
    return GatewayParts(
        loaded=loaded,
        registry=registry,
        chain=[_link(registry, name) for name in registry.plan.chain],
        calibrator=Calibrator.load(state / "calibration"),
        thresholds=Thresholds.load(state, decide.threshold, decide.thresholds),
        problems=unknown_names(registry),
        middleware=build_middleware(loaded, catalog),
    )


def organizations_parts(
    registry: Registry, middleware: Sequence[MiddlewareSlot], cooldowns: Cooldowns
) -> GatewayParts:
    """Return the parts of a gateway over an organization's own providers.

    Args:
        registry: those providers.
        middleware: the operator's, which every call of the organization passes as well.
        cooldowns: what the process knows of providers that are down.
    """
    return GatewayParts(
        loaded=registry.loaded,
        registry=registry,
        chain=[_link(registry, name) for name in registry.plan.chain],
        calibrator=Calibrator(),
        thresholds=Thresholds(registry.loaded.config.decide.threshold),
        middleware=tuple(slot.discreet() for slot in middleware),
        cooldowns=cooldowns,
    )


def make_decider(parts: GatewayParts, observers: Sequence[Observer] = ()) -> Decider:
    """Return the decide contract over those parts; ``observers`` are told of every valid call."""
    pause = Pause(state_dir_to_read(parts.loaded.environ))
    return Decider(chain=_answerer(parts), is_paused=pause.is_on, observers=observers)


def chain_of_one(parts: GatewayParts, name: str) -> Chain:
    """Return a chain that asks one provider, whatever the configured chain is."""
    return _chain(parts, [_link(parts.registry, name)])


def _answerer(parts: GatewayParts) -> Answerer:
    """Return the chain, with the middleware around it; one that is broken lets nothing pass."""
    if any(slot.faults for slot in parts.middleware):
        return attrs.evolve(_chain(parts, ()), error_when_empty=ConfigError(*parts.config_errors))
    chain = _chain(parts, parts.chain)
    layers = [slot.layer for slot in parts.middleware if isinstance(slot.layer, Layer)]
    return Layers(layers=layers, chain=chain) if layers else chain


def _chain(parts: GatewayParts, links: Sequence[Link]) -> Chain:
    settings = parts.loaded.config.decide
    rules = VerdictRules(
        calibrator=parts.calibrator,
        thresholds=parts.thresholds,
        abstain_when_truncated=settings.abstain_when_truncated,
        when_stale=settings.when_stale,
    )
    error = _error_when_empty(parts.registry)
    return Chain(
        links=links,
        settings=settings,
        rules=rules,
        error_when_empty=error,
        # With nobody else to ask, there is nothing to remember and nothing to probe for.
        cooldowns=parts.cooldowns if settings.cooldown and len(links) > 1 else None,
    )


def _link(registry: Registry, name: str) -> Link:
    try:
        return Link(name=name, provider=registry.provider(name))
    except ConfigError as error:
        if is_passing(error):
            raise
        return Link(name=name, provider=error)


def _error_when_empty(registry: Registry) -> ConfigError:
    problems = registry.problems or ("no provider is usable; s1gw health says why",)
    return ConfigError(*problems)
