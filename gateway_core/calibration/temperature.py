"""Temperature scaling of one probability distribution, and the buckets fits are made for."""

import math
from collections.abc import Mapping, Sequence
from typing import Final, Literal

FLOOR: Final = 1e-12
"""What a probability of zero counts as, so that its logarithm is finite."""
LOWEST_TEMPERATURE: Final = 0.05
HIGHEST_TEMPERATURE: Final = 20.0
HIGHEST_FLOOR: Final = 0.05

Bucket = Literal["2", "3-5", "6-10", "11-20", "21-50", "51-100", "101+", "any"]
"""How many options the questions have that a fit is for; ``any`` stands for every number."""
ANY_BUCKET: Final = "any"
_BUCKETS: Final[tuple[tuple[int, Bucket], ...]] = (
    (2, "2"),
    (5, "3-5"),
    (10, "6-10"),
    (20, "11-20"),
    (50, "21-50"),
    (100, "51-100"),
)


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
    return next((bucket for most, bucket in _BUCKETS if option_count <= most), "101+")


def shifted(
    probabilities: Mapping[str, float],
    temperature: float,
    floor: float,
    biases: Mapping[str, float],
) -> dict[str, float]:
    """Return ``softmax(ln(max(p, floor)) / temperature + bias)`` by option.

    With two options it is the method of Platt, "Probabilistic Outputs for Support Vector
    Machines" (1999), on log-odds; with more, the vector scaling of Guo et al. (2017) whose
    slopes are equal.

    Args:
        probabilities: by option.
        temperature: above 0.
        floor: what a smaller probability counts as.
        biases: what is added for each of the options, in nats.
    """
    logs = [math.log(max(p, floor)) / temperature + biases[k] for k, p in probabilities.items()]
    top = max(logs)
    weights = [math.exp(value - top) for value in logs]
    total = math.fsum(weights)
    return dict(zip(probabilities, (weight / total for weight in weights), strict=True))
