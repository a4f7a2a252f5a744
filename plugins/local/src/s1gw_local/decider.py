"""From a checked body to answers: similarities, probabilities, confidence."""

from collections.abc import Mapping
from typing import Any

import attrs

from s1gw_local.body import Body
from s1gw_local.engine import Engine
from s1gw_local.fitted import shipped_fit
from s1gw_local.question import Question
from s1gw_local.scoring import choice_confidence, score_confidence, softmax


@attrs.frozen(kw_only=True)
class Answers:
    """What came of one body.

    Attributes:
        by_id: the answers, by question id.
        tokens: how many tokens were read for them.
        truncated: whether a state was too long to be read whole.
    """

    by_id: Mapping[str, Any]
    tokens: int
    truncated: bool


@attrs.frozen(kw_only=True)
class Decider:
    """Answers questions by the similarity of their text to each option.

    Attributes:
        engine: what embeds.
        temperature: in place of the fitted temperatures, or None.
    """

    engine: Engine
    temperature: float | None = None

    async def answers(self, body: Body) -> Answers:
        """Return the answers to a body's questions.

        Raises:
            ProviderError: the engine cannot be loaded.
        """
        subjects = {question.subject: 0 for question in body.questions}
        states = {text: await self.engine.state(text) for text in subjects}
        tokens = sum(state.tokens for state in states.values())
        found: dict[str, Any] = {}
        for question in body.questions:
            options = await self.engine.options(question.texts)
            state = states[question.subject].vector
            similarities = [float(option.vector @ state) for option in options]
            found[question.id] = self._answer(question, similarities)
            tokens += sum(option.tokens for option in options)
        truncated = not all(state.whole for state in states.values())
        return Answers(by_id=found, tokens=tokens, truncated=truncated)

    def _answer(self, question: Question, similarities: list[float]) -> Mapping[str, Any]:
        temperature = self.temperature or shipped_fit().temperature[question.type]
        probabilities = softmax(similarities, temperature)
        return (
            _choice(question, probabilities)
            if question.type == "choice"
            else _score(question, probabilities)
        )


def _choice(question: Question, probabilities: list[float]) -> Mapping[str, Any]:
    named = dict(zip(question.keys, probabilities, strict=True))
    return {
        "type": "choice",
        "choice": max(named, key=named.__getitem__),
        "probabilities": named,
        "confidence": choice_confidence(probabilities),
    }


def _score(question: Question, probabilities: list[float]) -> Mapping[str, Any]:
    return {
        "type": "score",
        "score": sum(level * p for level, p in enumerate(probabilities)),
        "legend": dict(zip(question.keys, question.levels, strict=True)),
        "probabilities": dict(zip(question.keys, probabilities, strict=True)),
        "confidence": score_confidence(probabilities),
    }
