"""How far confidence is from what it says, told apart from what chance makes of few examples."""

from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from gateway_core.calibration.fitfile import Estimate
from gateway_core.evaluation.resampling import RESAMPLES, SEED, resampled

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

BINS: Final = 10
_SIGNIFICANT: Final = 0.05
_FURTHEST: Final = 8.0
# The mean of |N(m, 1)| for m from 0 to 8, to be read backwards.
_MEANS: Final = np.linspace(0, _FURTHEST, 2001)
_FOLDED: Final = np.sqrt(2 / np.pi) * np.exp(-(_MEANS**2) / 2) + _MEANS * (1 - 2 * ndtr(-_MEANS))


@attrs.frozen(kw_only=True)
class CalibrationError:
    """The calibration error of a sample, and what it means.

    Attributes:
        estimate: the debiased error with its 95% interval, in [0, 1].
        by_chance: what 95% of samples of this size would have at most as their plain error if
            every confidence were exact.
        p_value: of the hypothesis that every confidence is exact.
    """

    estimate: Estimate
    by_chance: float
    p_value: float


def bin_of(confidence: Floats) -> NDArray[np.intp]:
    """Return the bin of each confidence: ten of equal width, the last with its upper end."""
    return np.minimum((confidence * BINS).astype(np.intp), BINS - 1)


def calibration_error(confidence: Floats, correct: Flags) -> float:
    """Return the expected calibration error over ten bins of equal width, in [0, 1].

    The mean over the examples of the distance between a bin's accuracy and its mean
    confidence: Guo et al., "On Calibration of Modern Neural Networks" (2017), equation 3.
    Chance alone makes it positive; ``debiased_error`` takes that off.
    """
    gaps = np.bincount(bin_of(confidence), weights=correct - confidence, minlength=BINS)
    return float(np.abs(gaps).sum() / len(confidence))


def debiased_error(confidence: Floats, correct: Flags) -> float:
    """Return the calibration error less what chance adds to it, in [0, 1].

    A bin's gap is about normal around the true gap, so that its size is about folded normal
    (Leone et al., "The Folded Normal Distribution", 1961). Each size is replaced by the true gap
    that has it for its mean; one that is below what chance gives counts as 0.
    """
    places = bin_of(confidence)
    count = np.bincount(places, minlength=BINS)
    gaps = np.abs(np.bincount(places, weights=correct - confidence, minlength=BINS))
    right = (np.bincount(places, weights=correct, minlength=BINS) + 0.5) / (count + 1)
    spread = np.sqrt(np.maximum(count * right * (1 - right), 1e-12))
    sizes = gaps / spread
    true = np.where(sizes >= _FURTHEST, sizes, np.interp(sizes, _FOLDED, _MEANS))
    return float((np.where(count > 0, true * spread, 0.0)).sum() / len(confidence))


def calibration_of(confidence: Floats, correct: Flags) -> CalibrationError:
    """Measure the calibration of a sample.

    The test draws outcomes from the confidences themselves (consistency resampling: Broecker
    and Smith, "Increasing the Reliability of Reliability Diagrams", 2007). The interval is that
    of the bootstrap around the debiased error; its lower end is 0 unless the test says that the
    confidences are not exact, since an error of 0 is at the edge where the bootstrap fails.

    Args:
        confidence: of each answer.
        correct: whether it was right.
    """
    plain = calibration_error(confidence, correct)
    exact = _errors_of_exact(confidence)
    p_value = float((1 + (exact >= plain - 1e-12).sum()) / (1 + len(exact)))
    value = debiased_error(confidence, correct)
    drawn = resampled(lambda rows: debiased_error(confidence[rows], correct[rows]), len(confidence))
    low, high = map(float, np.quantile(drawn, [0.025, 0.975]))
    return CalibrationError(
        estimate=Estimate(
            value=value,
            low=0.0 if p_value > _SIGNIFICANT else max(0.0, min(value, 2 * value - high)),
            high=min(1.0, max(high, 2 * value - low, _by_chance(exact), value)),
        ),
        by_chance=_by_chance(exact),
        p_value=p_value,
    )


def _by_chance(exact: Floats) -> float:
    return float(np.quantile(exact, 1 - _SIGNIFICANT))


def _errors_of_exact(confidence: Floats) -> Floats:
    draw, size = np.random.default_rng(SEED + 1), len(confidence)
    drawn = (draw.random(size) < confidence for _ in range(RESAMPLES))
    return np.array([calibration_error(confidence, right) for right in drawn])
