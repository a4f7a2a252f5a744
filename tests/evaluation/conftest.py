"""Synthetic providers whose miscalibration is known."""

import numpy as np
import pytest

from gateway_core.evaluation.example import Example


def synthetic(count, temperature, *, options=4, seed=0, scale=1.5, **changes):
    """Return examples of a provider that reports its knowledge sharpened by ``temperature``.

    What it knows is right as often as it says; tempering what it reports by ``temperature``
    gives that back.
    """
    draw = np.random.default_rng(seed)
    logits = draw.normal(0, scale, (count, options))
    known = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    told = known**temperature
    told /= told.sum(axis=1, keepdims=True)
    usual = {"provider": "p", "model": "m", "question_type": "options"} | changes
    return [
        Example(
            key=str(number),
            probabilities=tuple(map(float, told[number])),
            options=tuple(f"option {place}" for place in range(options)),
            gold=int(draw.choice(options, p=known[number])),
            **usual,
        )
        for number in range(count)
    ]


@pytest.fixture(scope="session")
def make_examples():
    return synthetic
