"""The bootstrap, for means that have no exact interval."""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gateway_core.calibration.fitfile import Estimate

RESAMPLES: Final = 1000
SEED: Final = 20_260_101


def resampled(statistic: Callable[[NDArray[np.intp]], float], count: int) -> NDArray[np.float64]:
    """Return a statistic over 1,000 resamples, which are the same in every run.

    Args:
        statistic: of the examples at the given places.
        count: how many examples there are.
    """
    draw = np.random.default_rng(SEED)
    return np.array([statistic(draw.integers(0, count, count)) for _ in range(RESAMPLES)])


def estimate(statistic: Callable[[NDArray[np.intp]], float], count: int) -> Estimate:
    """Return a statistic with its 95% percentile bootstrap interval.

    Args:
        statistic: of the examples at the given places, such as the mean of a loss. Shares have
            exact intervals instead (``shares``), since no resample of equal outcomes differs.
        count: how many examples there are.
    """
    low, high = np.quantile(resampled(statistic, count), [0.025, 0.975])
    return Estimate(value=statistic(np.arange(count)), low=float(low), high=float(high))
