"""What was learnt from the tuning set and ships with the plugin as ``data/fit.json``."""

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Final

import attrs

FIT_FILE: Final = files("s1gw_local") / "data" / "fit.json"


@attrs.frozen(kw_only=True)
class Fit:
    """The parameters of the engine.

    Attributes:
        temperature: per question type, what similarities are divided by.
        state_mean: the mean vector of states, which is taken from each of them.
        option_mean: the mean vector of options, likewise. All vectors of this model point
            roughly the same way; what tells two texts apart is what is left without that.
    """

    temperature: Mapping[str, float]
    state_mean: tuple[float, ...]
    option_mean: tuple[float, ...]


@lru_cache(maxsize=1)
def shipped_fit() -> Fit:
    """Read the fit that ships with this version."""
    found = json.loads(FIT_FILE.read_text(encoding="utf-8"))
    return Fit(
        temperature=found["temperature"],
        state_mean=tuple(found["state_mean"]),
        option_mean=tuple(found["option_mean"]),
    )
