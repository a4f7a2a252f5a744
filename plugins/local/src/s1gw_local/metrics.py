"""How good probabilities are; a row is the probabilities of the options and the right one."""

import math
from collections.abc import Sequence
from typing import Final

Row = tuple[Sequence[float], int]
_BINS: Final = 10
_Z95: Final = 1.959964


def hits(rows: Sequence[Row]) -> int:
    """Return how often the most probable option is the right one."""
    return sum(max(range(len(p)), key=p.__getitem__) == gold for p, gold in rows)


def nll(rows: Sequence[Row]) -> float:
    """Return the mean negative log-likelihood of the right option, in nats."""
    return math.fsum(-math.log(max(p[gold], 1e-12)) for p, gold in rows) / len(rows)


def brier(rows: Sequence[Row]) -> float:
    """Return the mean of Brier's (1950) score over all options: 0 is perfect, 2 the worst."""
    errors = ((q - (index == gold)) ** 2 for p, gold in rows for index, q in enumerate(p))
    return math.fsum(errors) / len(rows)


def ece(rows: Sequence[Row]) -> float:
    """Return the expected calibration error: ten bins of equal width on the top probability."""
    bins: list[list[Row]] = [[] for _ in range(_BINS)]
    for p, gold in rows:
        bins[min(int(max(p) * _BINS), _BINS - 1)].append((p, gold))
    gaps = (abs(hits(found) - math.fsum(max(p) for p, _ in found)) for found in bins)
    return math.fsum(gaps) / len(rows)


def wilson(successes: int, count: int) -> tuple[float, float]:
    """Return Wilson's (1927) 95% interval of a proportion."""
    share, spread = successes / count, _Z95**2 / count
    centre = share + spread / 2
    margin = _Z95 * math.sqrt((share * (1 - share) + spread / 4) / count)
    return (centre - margin) / (1 + spread), (centre + margin) / (1 + spread)


def auroc(scores: Sequence[float], truths: Sequence[bool]) -> float:
    """Return how often a true example scores above a false one; ties count half."""
    positive = [score for score, truth in zip(scores, truths, strict=True) if truth]
    negative = [score for score, truth in zip(scores, truths, strict=True) if not truth]
    wins = sum((a > b) + (a == b) / 2 for a in positive for b in negative)
    return wins / (len(positive) * len(negative))
