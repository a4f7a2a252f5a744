"""What an OpenAI Decisions reply must be for its answer to count."""

import json

import pytest

from gateway_core import Capabilities, Format
from gateway_core.errors import MalformedResponse
from gateway_core.wire import Answer, Question, read

YES_NO = Question(text="?")
CHOICE = Question(text="?", options=("a", "b", "c"))


def listed(*answers: object) -> bytes:
    return json.dumps({"model": "m-1", "answers": answers, "usage": {}}).encode()


def entries(*probabilities: object) -> list[dict[str, object]]:
    pairs = zip("abc", probabilities, strict=True)
    return [{"value": value, "probability": probability} for value, probability in pairs]


def got(body: bytes, question: Question) -> Answer:
    return read(body, question, Capabilities(formats=frozenset({Format.OPENAI})))


@pytest.mark.parametrize("question", [YES_NO, CHOICE])
def test_a_refusal_is_an_answer_and_not_a_fault(question: Question) -> None:
    answer = got(listed({"type": "refusal", "name": "decision"}), question)
    assert (answer.refused, answer.decision, answer.probabilities) == (True, None, None)


def test_answers_are_read_from_a_list() -> None:
    answer = got(listed({"type": "predicate", "name": None, "probability": 0.08}), YES_NO)
    assert (answer.decision, answer.probabilities) == ("no", {"yes": 0.08, "no": 0.92})
    chosen = {"type": "choice", "name": "decision", "choice": "b", "confidence": 0.4}
    answer = got(listed(chosen | {"probabilities": entries(0.2, 0.6, 0.2)}), CHOICE)
    assert (answer.decision, answer.provider_confidence) == ("b", 0.4)


@pytest.mark.parametrize(
    "answers",
    [
        [],
        [{"type": "predicate", "probability": 1}] * 2,
        [{"type": "predicate", "name": "other", "probability": 1}],
        [{"type": "choice", "choice": "a", "probabilities": {"a": 1, "b": 0, "c": 0}}],
        [{"type": "choice", "choice": "a", "probabilities": [1, 0, 0]}],
        [
            {
                "type": "choice",
                "choice": "a",
                "probabilities": entries(1, 0, 0) * 2,
            }
        ],
        [{"type": "choice", "choice": True, "probabilities": entries(1, 0, 0)}],
        [{"type": "choice", "choice": "a", "probabilities": [{"value": True, "probability": 1}]}],
        [{"type": "choice", "choice": "a", "probabilities": [{"value": ["a"], "probability": 1}]}],
        [None],
    ],
    ids=str,
)
def test_a_list_that_does_not_fit_is_malformed(answers: list[object]) -> None:
    with pytest.raises(MalformedResponse):
        got(listed(*answers), CHOICE)


def test_a_boolean_is_not_the_option_that_is_spelt_like_it() -> None:
    question = Question(text="?", options=("true", "false"))
    spread = [{"value": True, "probability": 0.9}, {"value": False, "probability": 0.1}]
    body = listed({"type": "choice", "choice": True, "probabilities": spread})
    with pytest.raises(MalformedResponse):
        got(body, question)
