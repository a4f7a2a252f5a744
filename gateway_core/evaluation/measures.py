"""How good probabilities are, with the uncertainty of saying so from this many examples."""

from collections.abc import Callable, Sequence
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from gateway_core.calibration.fitfile import Estimate, Quality
from gateway_core.calibration.temperature import FLOOR, HIGHEST_FLOOR
from gateway_core.evaluation.example import Example

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

BINS: Final = 10
RESAMPLES: Final = 1000
_SEED: Final = 20_260_101
_FLOOR_SHARE: Final = 1 / 20


def floor_of(examples: Sequence[Example]) -> float:
    """Return what a probability of 0 counts as: a twentieth of the smallest one reported.

    Providers round, some to two decimals, so that a right answer told with 0 is unlikely and
    not impossible. Counted as one in 10¹², a few of them would outweigh all other examples
    and the temperature would come out several times too high.
    """
    told = (p for one in examples for p in one.probabilities if p > 0)
    return max(FLOOR, min(HIGHEST_FLOOR, _FLOOR_SHARE * min(told)))


@attrs.frozen(eq=False)
class Sample:
    """Examples as arrays; shorter lists of options are padded with probability 0.

    Attributes:
        logs: natural logarithms of the probabilities, examples by options, minus infinity
            for padding.
        gold: the place of the right option, by example.
    """

    logs: Floats
    gold: Places

    @classmethod
    def of(cls, examples: Sequence[Example], floor: float = FLOOR) -> "Sample":
        """Return examples as arrays.

        Args:
            examples: at least one, whose order is kept.
            floor: what a smaller probability counts as.
        """
        width = max(len(one.probabilities) for one in examples)
        logs = np.full((len(examples), width), -np.inf)
        for row, one in zip(logs, examples, strict=True):
            row[: len(one.probabilities)] = np.log(np.maximum(one.probabilities, floor))
        return cls(logs, np.array([one.gold for one in examples]))

    def take(self, rows: Places) -> "Sample":
        """Return the examples at ``rows``."""
        return Sample(self.logs[rows], self.gold[rows])

    def tempered_logs(self, temperature: float | Floats) -> Floats:
        """Return the logarithms after tempering, with one temperature or one per example."""
        scaled = self.logs / np.reshape(temperature, (-1, 1))
        scaled -= scaled.max(axis=1, keepdims=True)
        result: Floats = scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True))
        return result

    def measured(self, temperature: float | Floats = 1.0) -> "Measured":
        """Return what is measured of every example at ``temperature``."""
        logs = self.tempered_logs(temperature)
        rows = np.arange(len(logs))
        spread = np.exp(logs)
        right = np.zeros_like(spread)
        right[rows, self.gold] = 1.0
        return Measured(
            nll=-logs[rows, self.gold],
            brier=((spread - right) ** 2).sum(axis=1),
            confidence=spread.max(axis=1),
            correct=self.logs.argmax(axis=1) == self.gold,
        )


@attrs.frozen(eq=False, kw_only=True)
class Measured:
    """Numbers per example.

    Attributes:
        nll: negative log-likelihood of the right option, in nats.
        brier: squared distance from the right answer, summed over the options.
        confidence: probability of the decision.
        correct: whether the decision was right.
    """

    nll: Floats
    brier: Floats
    confidence: Floats
    correct: NDArray[np.bool_]

    def quality(self) -> Quality:
        """Return the means and the calibration error, each with its bootstrap interval."""
        return Quality(
            nll=estimate(lambda rows: float(self.nll[rows].mean()), len(self.nll)),
            brier=estimate(lambda rows: float(self.brier[rows].mean()), len(self.nll)),
            ece=estimate(
                lambda rows: calibration_error(self.confidence[rows], self.correct[rows]),
                len(self.nll),
                distance=True,
            ),
        )


def measured_as_told(examples: Sequence[Example]) -> Measured:
    """Return what is measured of probabilities as they came; only in the loss is 0 not 0."""
    lossy = Sample.of(examples, floor_of(examples)).measured()
    return attrs.evolve(Sample.of(examples).measured(), nll=lossy.nll)


def bin_of(confidence: Floats) -> Places:
    """Return the bin of each confidence: ten of equal width, the last with its upper end."""
    return np.minimum((confidence * BINS).astype(np.intp), BINS - 1)


def calibration_error(confidence: Floats, correct: NDArray[np.bool_]) -> float:
    """Return the expected calibration error over ten bins of equal width, in [0, 1].

    The mean over the examples of the distance between a bin's accuracy and its mean
    confidence: Guo et al., "On Calibration of Modern Neural Networks" (2017), equation 3.
    """
    gaps = np.bincount(bin_of(confidence), weights=correct - confidence, minlength=BINS)
    return float(np.abs(gaps).sum() / len(confidence))


def estimate(
    statistic: Callable[[Places], float], count: int, *, distance: bool = False
) -> Estimate:
    """Return a statistic with its 95% percentile bootstrap interval over 1,000 resamples.

    The resamples are the same in every run, so that equal data give equal intervals.

    Args:
        statistic: of the examples at the given places.
        count: how many examples there are.
        distance: whether it is a sum of distances from 0, to which resampling adds: the
            interval is then the basic one, which takes that off again (Davison and Hinkley,
            "Bootstrap Methods and their Application", 1997, section 5.2).
    """
    draw = np.random.default_rng(_SEED)
    values = [statistic(draw.integers(0, count, count)) for _ in range(RESAMPLES)]
    value, (low, high) = statistic(np.arange(count)), np.quantile(values, [0.025, 0.975])
    if distance:
        low, high = max(0.0, min(value, 2 * value - high)), max(value, 2 * value - low)
    return Estimate(value=value, low=float(low), high=float(high))
