"""Temperature scaling of one probability distribution, and the buckets fits are made for."""

import math
from collections.abc import Sequence
from typing import Final, Literal

FLOOR: Final = 1e-12
"""What a probability of zero counts as, so that its logarithm is finite."""
LOWEST_TEMPERATURE: Final = 0.05
HIGHEST_TEMPERATURE: Final = 20.0
HIGHEST_FLOOR: Final = 5e-4

Bucket = Literal["2", "3-5", "6-10", "11+", "any"]
"""How many options the questions have that a fit is for; ``any`` stands for every number."""
ANY_BUCKET: Final = "any"


def tempered(
    probabilities: Sequence[float], temperature: float, floor: float = FLOOR
) -> list[float]:
    """Return ``softmax(ln(max(p, floor)) / temperature)``, computed with max-subtraction.

    A temperature above 1 softens and one below 1 sharpens; the order of the probabilities
    never changes. Yes/no is the two-class case, with ``[p, 1 - p]``. The method is that of
    Guo et al., "On Calibration of Modern Neural Networks" (2017), on log-probabilities.

    Args:
        probabilities: at least one probability in [0, 1]; they need not sum to 1.
        temperature: above 0; fits hold it within [0.05, 20].
        floor: what a smaller probability counts as.

    Returns:
        As many probabilities in the same order, which sum to 1.
    """
    logs = [math.log(max(p, floor)) / temperature for p in probabilities]
    top = max(logs)
    weights = [math.exp(value - top) for value in logs]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def bucket_of(option_count: int) -> Bucket:
    """Return the bucket of a question with ``option_count`` options; yes/no has 2.

    Confidence scales with the number of options, so one fit does not serve all.
    """
    if option_count <= 2:
        return "2"
    if option_count <= 5:
        return "3-5"
    return "6-10" if option_count <= 10 else "11+"
