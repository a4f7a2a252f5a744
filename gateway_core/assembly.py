"""From a configuration to the parts of a gateway: the scene, its chain, and who settles calls."""

from collections.abc import Sequence

import attrs

from gateway_core.calibration import Calibrator, Thresholds
from gateway_core.catalog import Catalog
from gateway_core.config.loaded import Loaded
from gateway_core.config.model import Config
from gateway_core.config.paths import state_dir
from gateway_core.decide import Chain, Decider, Judge, Link, Observer, Settler
from gateway_core.errors import ConfigError
from gateway_core.middleware import Layer, Layers, Place, build_middleware
from gateway_core.outbound import Outbound
from gateway_core.pause import Pause
from gateway_core.registry import Registry
from gateway_core.reports import Scene


def operators_scene(loaded: Loaded, outbound: Outbound) -> Scene:
    """Return the parts of the gateway that a configuration describes.

    Args:
        loaded: the configuration, broken parts included.
        outbound: the way out that its providers share.
    """
    decide, state = loaded.config.decide, state_dir(loaded.environ)
    catalog = Catalog.installed(loaded.config.plugins.disabled)
    registry = Registry(loaded, catalog, outbound)
    return Scene(
        loaded=loaded,
        registry=registry,
        chain=[_link(registry, name) for name in registry.plan.chain],
        calibrator=Calibrator.load(state / "calibration"),
        thresholds=Thresholds.load(state, decide.threshold, decide.thresholds),
        problems=_unknown_names(loaded.config, registry),
        middleware=build_middleware(loaded, catalog),
    )


def organizations_scene(registry: Registry, middleware: Sequence[Place]) -> Scene:
    """Return the parts of a gateway over an organization's own providers.

    Args:
        registry: those providers.
        middleware: the operator's, which every call of the organization passes as well.
    """
    return Scene(
        loaded=registry.loaded,
        registry=registry,
        chain=[_link(registry, name) for name in registry.plan.chain],
        calibrator=Calibrator(),
        thresholds=Thresholds(registry.loaded.config.decide.threshold),
        middleware=tuple(place.discreet() for place in middleware),
    )


def make_decider(scene: Scene, observers: Sequence[Observer] = ()) -> Decider:
    """Return the decide contract over a scene; ``observers`` are told of every valid call."""
    pause = Pause(state_dir(scene.loaded.environ))
    return Decider(chain=_settler(scene), is_paused=pause.is_on, observers=observers)


def chain_of_one(scene: Scene, name: str) -> Chain:
    """Return a chain that asks one provider, whatever the configured chain is."""
    return _chain(scene, [_link(scene.registry, name)])


def _settler(scene: Scene) -> Settler:
    """Return the chain, with the middleware around it; one that is broken lets nothing pass."""
    if any(place.faults for place in scene.middleware):
        return attrs.evolve(_chain(scene, ()), nobody=ConfigError(*scene.config_errors))
    chain = _chain(scene, scene.chain)
    layers = [place.layer for place in scene.middleware if isinstance(place.layer, Layer)]
    return Layers(layers=layers, chain=chain) if layers else chain


def _chain(scene: Scene, links: Sequence[Link]) -> Chain:
    settings = scene.loaded.config.decide
    judge = Judge(
        calibrator=scene.calibrator,
        thresholds=scene.thresholds,
        abstain_when_truncated=settings.abstain_when_truncated,
    )
    nobody = _nobody(scene.registry)
    return Chain(links=links, settings=settings, judge=judge, nobody=nobody)


def _link(registry: Registry, name: str) -> Link:
    try:
        return Link(name=name, provider=registry.provider(name))
    except ConfigError as error:
        return Link(name=name, provider=error)


def _nobody(registry: Registry) -> ConfigError:
    problems = registry.problems or ("no provider is usable; s1gw health says why",)
    return ConfigError(*problems)


def _unknown_names(config: Config, registry: Registry) -> list[str]:
    """Name the tables that speak of providers which could never be asked."""
    known = {candidate.name for candidate in registry.plan.candidates} | config.providers.keys()
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
        if name not in known
    ]
