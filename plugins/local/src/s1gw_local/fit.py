"""Learn ``data/fit.json`` from the tuning set: ``python -m s1gw_local.fit`` writes it anew.

Tasks count alike, however many examples they have, so that none of them decides alone. A
temperature is the one that minimises the mean negative log-likelihood; see Guo et al. (2017),
"On Calibration of Modern Neural Networks".
"""

import json
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Final

import numpy as np
import numpy.typing as npt

from s1gw_local.fitted import FIT_FILE, Fit
from s1gw_local.metrics import Row, nll
from s1gw_local.native import raw_vector
from s1gw_local.scoring import softmax
from s1gw_local.tasks import Task, tasks

Vector = npt.NDArray[np.float32]
Scored = list[tuple[list[float], int]]
_vector: Final = lru_cache(maxsize=None)(raw_vector)
_GRID: Final = [round(0.01 * 1.02**step, 4) for step in range(200)]


def fit() -> Fit:
    """Return the centres of states and options, and a temperature per question type."""
    choices, scores = tasks("tune", "choice"), tasks("tune", "score")
    state_mean, option_mean = _centres(choices)
    return Fit(
        temperature={
            "choice": _temperature(choices, choices),
            "score": _temperature(scores, choices),
        },
        state_mean=tuple(round(float(value), 5) for value in state_mean),
        option_mean=tuple(round(float(value), 5) for value in option_mean),
    )


def _temperature(fitted: Sequence[Task], centring: Sequence[Task]) -> float:
    # A task helps to centre all but itself here, as one that is met in use does not either.
    scored = [
        _scored(task, *_centres([other for other in centring if other is not task]))
        for task in fitted
    ]
    return min(_GRID, key=lambda candidate: fmean(_loss(task, candidate) for task in scored))


def _centres(found: Sequence[Task]) -> tuple[Vector, Vector]:
    return _mean(map(_states, found)), _mean(map(_options, found))


def _states(task: Task) -> Vector:
    return np.stack([_vector(example.question.subject) for example in task.examples])


def _options(task: Task) -> Vector:
    return np.stack([_vector(text) for text in task.examples[0].question.texts])


def _mean(groups: Iterable[Vector]) -> Vector:
    found: Vector = np.mean([group.mean(axis=0) for group in groups], axis=0)
    return found


def _scored(task: Task, state_mean: Vector, option_mean: Vector) -> Scored:
    similarities = _centred(_states(task), state_mean) @ _centred(_options(task), option_mean).T
    golds = [example.gold for example in task.examples]
    return list(zip(similarities.tolist(), golds, strict=True))


def _centred(vectors: Vector, mean: Vector) -> Vector:
    moved = vectors - mean
    unit: Vector = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    return unit


def _loss(task: Scored, temperature: float) -> float:
    rows: list[Row] = [(softmax(similarities, temperature), gold) for similarities, gold in task]
    return nll(rows)


def main() -> None:
    """Write the fit into the package that this runs from."""
    found = fit()
    document = {
        "temperature": dict(found.temperature),
        "state_mean": found.state_mean,
        "option_mean": found.option_mean,
    }
    Path(str(FIT_FILE)).write_text(json.dumps(document) + "\n", encoding="utf-8")
    sys.stdout.write(f"temperature: {found.temperature}\n")


if __name__ == "__main__":
    main()
