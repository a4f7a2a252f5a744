"""Fitting how probabilities are scaled: one temperature, what 0 counts as, and biases by option."""

from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from gateway_core.calibration.temperature import (
    FLOOR,
    HIGHEST_FLOOR,
    HIGHEST_TEMPERATURE,
    LOWEST_TEMPERATURE,
)
from gateway_core.evaluation.example import Example
from gateway_core.evaluation.measures import Floats, Places, Sample, floor_of, normalized

FEW: Final = 200
"""Fewer examples than these support one parameter, within bounds that are tighter."""
_WIDE: Final = (LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE)
_TIGHT: Final = (0.5, 5.0)
# Prior standard deviations, in nats. What few examples cannot tell stays near T = 1, a bias of
# 0 and a floor of a twentieth of the smallest probability told; many examples outweigh them.
_TEMPERATURE_SD: Final = 0.5
_FLOOR_SD: Final = 1.5
_BIAS_SD: Final = 1.0


@attrs.frozen(eq=False)
class Scaling:
    """How probabilities are scaled.

    Attributes:
        temperature: what their logarithms are divided by.
        floor: what a probability of 0 counts as.
        biases: what is added for each option, in the order of ``Classes``; None for nothing.
    """

    temperature: float
    floor: float
    biases: Floats | None = None

    def logs(self, sample: Sample, classes: Places | None) -> Floats:
        """Return the logarithms of the scaled probabilities of a sample, examples by options."""
        scores = sample.floored(self.floor).logs / self.temperature
        if self.biases is not None and classes is not None:
            scores = scores + self.biases[classes]
        return normalized(scores)


@attrs.frozen(eq=False)
class Data:
    """Examples for a fit.

    Attributes:
        sample: the examples as arrays.
        floor: what a probability of 0 counts as, before the examples have a say in it.
        highest_floor: the most that it may come to count as.
        classes: which of the options each place of each example is; None where the examples do
            not all have the same options.
        options: those options.
    """

    sample: Sample
    floor: float
    highest_floor: float
    classes: Places | None
    options: tuple[str, ...]

    @classmethod
    def of(cls, examples: Sequence[Example]) -> "Data":
        """Return examples, at least one, for a fit."""
        floor = floor_of(examples)
        smallest = min(p for one in examples for p in one.probabilities if p > 0)
        options = tuple(sorted(examples[0].options))
        # Numbers stand for options that a log did not keep; they name nothing to come.
        named = options != tuple(sorted(str(place + 1) for place in range(len(options))))
        alike = named and all(tuple(sorted(one.options)) == options for one in examples)
        number = {name: place for place, name in enumerate(options)}
        classes = [[number[name] for name in one.options] for one in examples] if alike else None
        return cls(
            sample=Sample.of(examples, floor),
            floor=floor,
            highest_floor=max(floor, min(HIGHEST_FLOOR, smallest / 2)),
            classes=None if classes is None else np.array(classes),
            options=options,
        )

    def take(self, rows: Places) -> "Data":
        """Return the examples at ``rows``."""
        classes = None if self.classes is None else self.classes[rows]
        return attrs.evolve(self, sample=self.sample.take(rows), classes=classes)

    def golds(self) -> NDArray[np.intp]:
        """Return how often each of the options is the right one."""
        if self.classes is None:
            return np.zeros(0, np.intp)
        gold = self.classes[np.arange(len(self.classes)), self.sample.gold]
        return np.bincount(gold, minlength=len(self.options))


def fit_scaling(data: Data, *, biased: bool = False) -> Scaling:
    """Return the scaling with the greatest posterior probability.

    It minimises the sum of the negative log-likelihoods and of normal priors on the logarithm
    of the temperature, on that of the floor and on the biases. With fewer than 200 examples the
    temperature is held within [0.5, 5], else within [0.05, 20].

    Args:
        data: the examples.
        biased: fit a bias for each option too; all examples have the same options.
    """
    problem = _Problem(data, biased=biased)
    found = minimize(
        problem.loss, problem.start, jac=True, bounds=problem.bounds, method="L-BFGS-B"
    )
    return problem.scaling(found.x)


@attrs.define(eq=False)
class _Problem:
    """A fit as a function of one vector: ln T, ln floor where it matters, and biases."""

    data: Data
    biased: bool
    with_floor: bool = attrs.field(init=False)
    start: Floats = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.with_floor = bool(self.data.sample.zeros.any())
        biases = len(self.data.options) if self.biased else 0
        start = [0.0, *[np.log(self.data.floor)] * self.with_floor, *[0.0] * biases]
        self.start = np.array(start)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        ends = _TIGHT if len(self.data.sample.gold) < FEW else _WIDE
        floors = (np.log(FLOOR), np.log(self.data.highest_floor))
        biases = [(-10.0, 10.0)] * len(self.data.options) if self.biased else []
        return [
            (float(np.log(ends[0])), float(np.log(ends[1]))),
            *[floors] * self.with_floor,
            *biases,
        ]

    def scaling(self, values: Floats) -> Scaling:
        floor = float(np.exp(values[1])) if self.with_floor else self.data.floor
        biases = values[1 + self.with_floor :] if self.biased else None
        if biases is not None:
            biases = biases - biases.mean()
        floor = min(max(floor, FLOOR), HIGHEST_FLOOR)
        temperature = min(max(float(np.exp(values[0])), LOWEST_TEMPERATURE), HIGHEST_TEMPERATURE)
        return Scaling(temperature, floor, biases)

    def loss(self, values: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient."""
        scaling, sample = self.scaling(values), self.data.sample
        logs = scaling.logs(sample, self.data.classes)
        rows, spread = np.arange(len(logs)), np.exp(logs)
        spread_less_gold = spread.copy()
        spread_less_gold[rows, sample.gold] -= 1
        scores = sample.floored(scaling.floor).logs / scaling.temperature
        scores = np.where(np.isfinite(scores), scores, 0.0)
        slopes = [-(spread_less_gold * scores).sum()]
        if self.with_floor:
            slopes.append((spread_less_gold * sample.zeros).sum() / scaling.temperature)
        if self.biased and self.data.classes is not None:
            classes, size = self.data.classes.ravel(), len(self.data.options)
            slopes += list(np.bincount(classes, spread_less_gold.ravel(), size))
        prior, prior_slopes = self._prior(values)
        return float(-logs[rows, sample.gold].sum() + prior), np.array(slopes) + prior_slopes

    def _prior(self, values: Floats) -> tuple[float, Floats]:
        biases = len(values) - 1 - self.with_floor
        spread = np.array([_TEMPERATURE_SD, *[_FLOOR_SD] * self.with_floor, *[_BIAS_SD] * biases])
        away = (values - self.start) / spread
        return float((away**2).sum() / 2), away / spread
