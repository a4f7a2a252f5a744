"""From vectors to probabilities, and from probabilities to confidence."""

import math
from collections.abc import Sequence


def softmax(similarities: Sequence[float], temperature: float) -> list[float]:
    """Return probabilities in the order of ``similarities``; they sum to 1."""
    top = max(similarities)
    weights = [math.exp((value - top) / temperature) for value in similarities]
    total = sum(weights)
    return [weight / total for weight in weights]


def choice_confidence(probabilities: Sequence[float]) -> float:
    """Return TypeSafe's confidence of a choice: (n·p_max - 1)/(n - 1), and 1 for one option."""
    count = len(probabilities)
    return 1.0 if count == 1 else max(0.0, (count * max(probabilities) - 1) / (count - 1))


def score_confidence(probabilities: Sequence[float]) -> float:
    """Return TypeSafe's confidence of a score: 1 - spread about the mode / that of no opinion."""
    count = len(probabilities)
    if count == 1:
        return 1.0
    mode = max(range(count), key=probabilities.__getitem__)
    spread = sum(p * abs(level - mode) for level, p in enumerate(probabilities))
    uniform = sum(abs(level - (count - 1) / 2) for level in range(count)) / count
    return max(0.0, 1.0 - spread / uniform)
