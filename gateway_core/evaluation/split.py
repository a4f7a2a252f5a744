"""Examples in three parts: to fit on, to find thresholds on, and to test both."""

from collections.abc import Sequence
from typing import Final

import attrs

from gateway_core.evaluation.example import Example, seen_as

_PARTS: Final = 100
_FIT: Final = 40
_THRESHOLD: Final = 80


@attrs.frozen(kw_only=True, eq=False)
class Split:
    """Examples, each in one of three parts.

    Attributes:
        fit: 40% of them.
        threshold: 40%.
        test: the rest.
    """

    fit: list[Example]
    threshold: list[Example]
    test: list[Example]


def split(examples: Sequence[Example]) -> Split:
    """Return examples in three parts.

    The part is chosen by a hash of the question, so that the same question is always in the same
    part, however it is typed and whatever else is in the file.
    """
    found = Split(fit=[], threshold=[], test=[])
    for one in examples:
        place = int(seen_as(one), 16) % _PARTS
        part = found.fit if place < _FIT else found.threshold
        (part if place < _THRESHOLD else found.test).append(one)
    return found
