"""One labelled answer: what a provider said, and what was right."""

import hashlib
import json
from collections.abc import Iterable

import attrs

from gateway_core.calibration import bucket_of
from gateway_core.calibration.temperature import Bucket
from gateway_core.wire import QuestionType


@attrs.frozen(kw_only=True)
class Example:
    """One answer of one provider to one question whose right answer is known.

    Attributes:
        key: names the question, so that two providers' answers to it can be paired.
        provider: the provider's name in the configuration.
        model: the model that answered.
        question_type: ``options`` or ``yes_no``.
        probabilities: as the provider gave them, in the options' order, summing to 1.
        gold: the place of the right option.
        options: the options' names; their numbers, from 1, where no content was kept.
        latency_ms: how long the answer took, in milliseconds, where that is known.
        near: names the question as ``key`` does, but equal questions in other words of the same
            letters (capitals, spaces, punctuation, order of options) have the same; empty where
            only the key is known.
        given: when it was given, ISO 8601, where that is known.
    """

    key: str
    provider: str
    model: str
    question_type: QuestionType
    probabilities: tuple[float, ...]
    gold: int
    options: tuple[str, ...]
    latency_ms: float | None = None
    near: str = ""
    given: str = ""

    @property
    def bucket(self) -> Bucket:
        """The bucket of the question's option count."""
        return bucket_of(len(self.probabilities))

    @property
    def decision(self) -> int:
        """The place of the most probable option, the first one on a tie."""
        return self.probabilities.index(max(self.probabilities))

    @property
    def correct(self) -> bool:
        """Whether the most probable option is the right one."""
        return self.decision == self.gold


def data_digest(examples: Iterable[Example]) -> str:
    """Return a SHA-256 of examples that does not depend on their order."""
    lines = sorted(
        json.dumps([one.key, one.provider, one.model, one.probabilities, one.gold])
        for one in examples
    )
    return "sha256:" + hashlib.sha256("\n".join(lines).encode()).hexdigest()


def seen_as(example: Example) -> str:
    """Return a short hash by which an example's question is known again."""
    return hashlib.sha256((example.near or example.key).encode()).hexdigest()[:16]
