"""What both reports look at."""

from collections.abc import Sequence

import attrs

from gateway_core.calibration import Calibrator, Thresholds
from gateway_core.config.loaded import Loaded
from gateway_core.decide import Candidate
from gateway_core.registry import Registry


@attrs.frozen(kw_only=True, eq=False)
class Scene:
    """The parts of one gateway.

    Attributes:
        loaded: its configuration.
        registry: its providers and the plan of the chain.
        chain: the providers of the chain, in order.
        calibrator: its fits.
        thresholds: its thresholds.
        problems: what else does not work as configured.
    """

    loaded: Loaded
    registry: Registry
    chain: Sequence[Candidate]
    calibrator: Calibrator
    thresholds: Thresholds
    problems: Sequence[str] = ()

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
            *fits.problems,
            *fits.stale.values(),
            *self.thresholds.problems,
        ]
