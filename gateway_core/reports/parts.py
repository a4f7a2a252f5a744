"""What both reports look at."""

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from gateway_core.calibration import Calibrator, Thresholds
from gateway_core.config.loaded import Loaded
from gateway_core.decide import Cooldowns, Link
from gateway_core.middleware import MiddlewareSlot
from gateway_core.registry import Registry
from gateway_core.reports.faults import known_faults


@attrs.frozen(kw_only=True, eq=False)
class GatewayParts:
    """The parts of one gateway.

    Attributes:
        loaded: its configuration.
        registry: its providers and the plan of the chain.
        chain: the providers of the chain, in order.
        calibrator: its fits.
        thresholds: its thresholds.
        problems: what else does not work as configured.
        log_problems: says what keeps decisions from being logged now.
        middleware: what calls pass through on their way to the chain, outermost first.
        cooldowns: what is known of providers that are down.
    """

    loaded: Loaded
    registry: Registry
    chain: Sequence[Link]
    calibrator: Calibrator
    thresholds: Thresholds
    problems: Sequence[str] = ()
    log_problems: Callable[[], Sequence[str]] = tuple
    middleware: Sequence[MiddlewareSlot] = ()
    cooldowns: Cooldowns = attrs.field(factory=Cooldowns)

    def refresh(self) -> None:
        """Look whether fits or thresholds have changed."""
        self.calibrator.refresh()
        self.thresholds.refresh()

    @property
    def chain_source(self) -> str:
        """Whether the chain is ``configured`` or ``automatic``."""
        return "automatic" if self.registry.plan.automatic else "configured"

    @property
    def warnings(self) -> list[str]:
        """What is wrong with what the gateway keeps, without keeping it from answering."""
        fits = self.calibrator
        return [
            *self.problems,
            *self.log_problems(),
            *fits.problems,
            *fits.stale.values(),
            *self.thresholds.problems,
        ]

    @property
    def config_errors(self) -> list[str]:
        """Every fault of the configuration and the plugins that it names."""
        return known_faults(self.registry, self.middleware)

    @property
    def middleware_report(self) -> list[dict[str, Any]]:
        """The middleware as both reports tell of it."""
        return [
            {"name": slot.name, "ok": not slot.faults, "detail": slot.detail}
            for slot in self.middleware
        ]
