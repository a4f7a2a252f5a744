"""What rounding explains: reported probabilities as a distribution, or a refusal.

An upstream that rounds each probability moves it by at most half a unit of the last decimal. So
n rounded probabilities may sum to 1 plus or minus n of these halves, and the distribution that
they stand for is within one of them of each. Dividing by the sum would move a large probability
far more than rounding can have moved it, and with many options make certainty of nothing.
"""

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

_COARSEST: Final = 0.005
"""Half a unit of the second decimal: the coarsest rounding that vendors do."""
_FLOAT_NOISE: Final = 1e-6
_EXACT: Final = 1e-12
"""A sum this close to 1 is one: moving the numbers would only change their last digits."""


def summing_to_one(values: Sequence[float]) -> list[float] | None:
    """Return ``values`` as they were before rounding, summing to 1; None if rounding explains less.

    What the sum lacks is spread evenly. What it has too much is taken evenly too, from each no
    more than it has. So the order stays, and nothing moves further than rounding may have moved
    it.

    Args:
        values: at least one number in [0, 1].
    """
    unit = half_unit(values)
    surplus = math.fsum(values) - 1
    if abs(surplus) <= _EXACT:
        return list(map(float, values))
    if abs(surplus) > len(values) * unit + _FLOAT_NOISE:
        return None
    share = -surplus / len(values) if surplus < 0 else -_even_share(values, surplus)
    if share < -(unit + _FLOAT_NOISE):
        return None
    return [max(0.0, value + share) for value in values]


def half_unit(values: Sequence[float]) -> float:
    """Return how far rounding may have moved each of ``values``; 0.005 at most.

    That is half a unit of the last decimal of the most precise of them.
    """
    decimals = max(map(_decimals, values))
    return min(_COARSEST, 0.5 * 10.0**-decimals)


def _decimals(value: float) -> int:
    # repr gives the fewest digits that make the number, which are those that were sent.
    exponent = Decimal(repr(float(value))).normalize().as_tuple().exponent
    return -exponent if isinstance(exponent, int) and exponent < 0 else 0


def _even_share(values: Sequence[float], surplus: float) -> float:
    """Return what to take from each, or all of it where it is less, to take ``surplus`` in all."""
    left, surplus_left = len(values), surplus
    for value in sorted(values):
        share = surplus_left / left
        if value >= share:
            return share
        surplus_left -= value
        left -= 1
    return math.inf
