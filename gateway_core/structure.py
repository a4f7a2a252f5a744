"""Tables of a configuration into attrs classes, with every fault named by its path."""

from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")


def structure(cls: type[T], table: Mapping[str, Any], path: str) -> T:
    """Build a ``cls`` from ``table``.

    Raises:
        ConfigError: one fault per wrong, missing or unknown key.
    """
    raise NotImplementedError
