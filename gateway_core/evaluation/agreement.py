"""Questions that were labelled more than once, and labels that contradict each other."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from gateway_core.evaluation.labelled import Labelled

Golds = Mapping[str, Counter[int]]
"""How often each place was given as the right one, by question."""


def golds_of(labelled: Iterable[Labelled]) -> Golds:
    """Return the labels of every question."""
    found: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for one in labelled:
        found[one.key][one.gold] += 1
    return found


def contradictions(golds: Golds) -> int:
    """Return how many questions have labels that contradict each other."""
    return sum(len(labels) > 1 for labels in golds.values())


def agreed(labels: Counter[int], probabilities: Sequence[float]) -> int:
    """Return the label that counts: the most frequent one.

    On a tie it is the one that the provider thought least likely, so that a doubtful question
    never makes a provider look better, and the order of the lines never matters.

    Args:
        labels: how often each place was given as the right one.
        probabilities: of the answer, in the options' order.
    """
    most = max(labels.values())
    tied = [place for place, count in labels.items() if count == most]
    return min(tied, key=lambda place: (probabilities[place], place))
