"""How good probabilities are, with the uncertainty of saying so from this many examples."""

from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from gateway_core.calibration.fitfile import Quality
from gateway_core.calibration.temperature import FLOOR
from gateway_core.evaluation.calibrationerror import calibration_of
from gateway_core.evaluation.example import Example
from gateway_core.evaluation.resampling import estimate

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

_FLOOR_SHARE: Final = 1 / 20
_MOST_FLOOR: Final = 5e-4


def floor_of(examples: Sequence[Example]) -> float:
    """Return what a probability of 0 counts as: a twentieth of the smallest one reported.

    Providers round, some to two decimals, so that a right answer told with 0 is unlikely and
    not impossible. Counted as one in 10¹², a few of them would outweigh all other examples
    and the temperature would come out several times too high.
    """
    told = (p for one in examples for p in one.probabilities if p > 0)
    return max(FLOOR, min(_MOST_FLOOR, _FLOOR_SHARE * min(told)))


@attrs.frozen(eq=False)
class Sample:
    """Examples as arrays; shorter lists of options are padded with probability 0.

    Attributes:
        logs: natural logarithms of the probabilities, examples by options, minus infinity
            for padding.
        gold: the place of the right option, by example.
        zeros: where a probability of 0 was told, examples by options.
    """

    logs: Floats
    gold: Places
    zeros: NDArray[np.bool_]

    @classmethod
    def of(cls, examples: Sequence[Example], floor: float = FLOOR) -> "Sample":
        """Return examples as arrays.

        Args:
            examples: at least one, whose order is kept.
            floor: what a smaller probability counts as.
        """
        width = max(len(one.probabilities) for one in examples)
        told = np.full((len(examples), width), np.nan)
        for row, one in zip(told, examples, strict=True):
            row[: len(one.probabilities)] = one.probabilities
        logs = np.where(np.isnan(told), -np.inf, np.log(np.fmax(told, floor)))
        return cls(logs, np.array([one.gold for one in examples]), told == 0)

    def take(self, rows: Places) -> "Sample":
        """Return the examples at ``rows``."""
        return Sample(self.logs[rows], self.gold[rows], self.zeros[rows])

    def floored(self, floor: float) -> "Sample":
        """Return the examples with what was told as 0 counting as ``floor``."""
        logs = np.where(self.zeros, np.log(floor), self.logs)
        return Sample(logs, self.gold, self.zeros)

    def tempered_logs(self, temperature: float | Floats) -> Floats:
        """Return the logarithms after tempering, with one temperature or one per example."""
        return normalized(self.logs / np.reshape(temperature, (-1, 1)))

    def measured(self, temperature: float | Floats = 1.0) -> "Measured":
        """Return what is measured of every example at ``temperature``."""
        return self.measured_as(self.tempered_logs(temperature))

    def measured_as(self, logs: Floats) -> "Measured":
        """Return what is measured of every example when its logarithms become ``logs``.

        The decision stays that of the probabilities as they came.
        """
        rows, decided = np.arange(len(logs)), self.logs.argmax(axis=1)
        spread = np.exp(logs)
        right = np.zeros_like(spread)
        right[rows, self.gold] = 1.0
        return Measured(
            nll=-logs[rows, self.gold],
            brier=((spread - right) ** 2).sum(axis=1),
            confidence=spread[rows, decided],
            correct=decided == self.gold,
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
        """Return the means and the calibration error, each with its interval."""
        error = calibration_of(self.confidence, self.correct)
        return Quality(
            nll=estimate(lambda rows: float(self.nll[rows].mean()), len(self.nll)),
            brier=estimate(lambda rows: float(self.brier[rows].mean()), len(self.nll)),
            ece=error.estimate,
            ece_by_chance=error.by_chance,
            p_value=error.p_value,
        )


def measured_as_told(examples: Sequence[Example]) -> Measured:
    """Return what is measured of probabilities as they came; only in the loss is 0 not 0."""
    lossy = Sample.of(examples, floor_of(examples)).measured()
    return attrs.evolve(Sample.of(examples).measured(), nll=lossy.nll)


def normalized(scores: Floats) -> Floats:
    """Return scores, examples by options, as logarithms of probabilities that sum to 1."""
    scaled = scores - scores.max(axis=1, keepdims=True)
    result: Floats = scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True))
    return result
