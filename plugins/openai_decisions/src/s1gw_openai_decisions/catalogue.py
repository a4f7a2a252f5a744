"""The decision models that OpenAI names: data, extended by ``settings.decision_models``."""

from collections.abc import Iterable
from typing import Final

DECISION_MODELS: Final = frozenset({"gpt-6-luna"})
"""From the documentation of ``decisions.create`` in openai-python 3.57."""


def is_decision_model(model: str, more: Iterable[str] = ()) -> bool:
    """Whether ``model`` is one of the catalogue, or a dated snapshot of one.

    A snapshot is the name and a date, as in ``gpt-6-luna-2026-09-14``.
    """
    known = DECISION_MODELS.union(more)
    head, *date = model.rsplit("-", 3)
    is_snapshot = [len(part) for part in date] == [4, 2, 2] and "".join(date).isdecimal()
    return model in known or (is_snapshot and head in known)
