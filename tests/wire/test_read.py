"""What a System One reply must be for its answer to count."""

import json
from typing import Any

import pytest

from gateway_core import Capabilities, Format, LabelRules, YesNo
from gateway_core.errors import MalformedResponse
from gateway_core.wire import Answer, Question, read

SYSTEM_ONE = frozenset({Format.SYSTEMONE})
YES_NO = Question(text="?")
CHOICE = Question(text="?", options=("a", "b", "c"))


def reply(answer: object, **envelope: object) -> bytes:
    return json.dumps({"model": "m-1", "answers": {"decision": answer}, **envelope}).encode()


def choice(winner: object, *probabilities: object, **more: object) -> dict[str, Any]:
    spread = dict(zip("abc", probabilities, strict=False))
    return {"type": "choice", "choice": winner, "probabilities": spread, **more}


def got(body: bytes, question: Question = CHOICE, **more: Any) -> Answer:
    return read(body, question, Capabilities(formats=SYSTEM_ONE, **more))


def test_a_noul_is_the_probability_of_yes() -> None:
    answer = got(reply({"type": "noul", "noul": 0.95}), YES_NO)
    assert (answer.decision, answer.probabilities) == ("yes", {"yes": 0.95, "no": 0.05})
    assert (answer.model, answer.provider_confidence) == ("m-1", None)


@pytest.mark.parametrize(
    ("noul", "decision", "no"), [(0.5, "yes", 0.5), (0.32, "no", 0.68), (0, "no", 1), (1, "yes", 0)]
)
def test_a_tie_is_yes_and_integers_count_as_numbers(noul: float, decision: str, no: float) -> None:
    answer = got(reply({"type": "noul", "noul": noul}), YES_NO)
    assert answer.decision == decision
    assert answer.probabilities == {"yes": noul, "no": no}


def test_a_choice_keeps_the_callers_order_and_the_providers_own_confidence() -> None:
    spread = {"c": 0.1, "a": 0.7, "b": 0.2}
    body = reply(
        {"type": "choice", "choice": "a", "probabilities": spread, "confidence": 0.55},
        usage={"input_tokens": 318, "output_tokens": 34},
    )
    answer = got(body)
    assert answer.decision == "a"
    assert list((answer.probabilities or {}).items()) == [("a", 0.7), ("b", 0.2), ("c", 0.1)]
    assert answer.provider_confidence == 0.55
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (318, 34)


@pytest.mark.parametrize("extra", [{}, {"usage": {}}, {"usage": None}, {"model": None}, {"id": 1}])
def test_what_is_no_part_of_the_decision_may_be_missing(extra: dict[str, object]) -> None:
    assert got(reply(choice("a", 1, 0, 0), **extra)).decision == "a"


@pytest.mark.parametrize(
    ("values", "winner"),
    [
        ((0.33, 0.33, 0.33), "c"),
        ((0.34, 0.34, 0.33), "b"),
        ((0.5, 0.5, 0.0), "b"),
        ((1.015, 0, 0), None),
        ((0.335, 0.335, 0.331), "a"),
    ],
)
def test_rounding_is_forgiven_and_made_good(values: tuple[float, ...], winner: str | None) -> None:
    if winner is None:
        with pytest.raises(MalformedResponse, match="outside"):
            got(reply(choice("a", *values)))
        return
    answer = got(reply(choice(winner, *values)))
    assert answer.decision == winner
    assert sum((answer.probabilities or {}).values()) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("model", [None, 7, "", "a\nb", "\ud800", "x" * 257])
def test_a_model_that_cannot_be_shown_is_no_model(model: object) -> None:
    assert got(reply(choice("a", 1, 0, 0), model=model)).model is None


MALFORMED: list[tuple[str, Question, object, str]] = [
    ("no answers", YES_NO, {"model": "m"}, "no answer"),
    ("a list", YES_NO, {"answers": [{"type": "noul", "noul": 1}]}, "no answer"),
    ("another id", YES_NO, {"answers": {"d": {"type": "noul", "noul": 1}}}, "no answer"),
    ("an error in a 200", YES_NO, {"error": {"code": "loading"}}, "no answer"),
    ("no type", YES_NO, {"answers": {"decision": {"noul": 1}}}, "another type"),
    ("a choice for a noul", YES_NO, choice("a", 1, 0, 0), "another type"),
    ("a noul for a choice", CHOICE, {"type": "noul", "noul": 1}, "another type"),
    ("a score", CHOICE, {"type": "score", "score": 1}, "another type"),
    ("unsupported", CHOICE, {"type": "unsupported"}, "another type"),
    ("noul missing", YES_NO, {"type": "noul"}, "not a number"),
    ("noul null", YES_NO, {"type": "noul", "noul": None}, "not a number"),
    ("noul text", YES_NO, {"type": "noul", "noul": "0.9"}, "not a number"),
    ("noul boolean", YES_NO, {"type": "noul", "noul": True}, "not a number"),
    ("noul above 1", YES_NO, {"type": "noul", "noul": 1.01}, "outside"),
    ("noul below 0", YES_NO, {"type": "noul", "noul": -0.01}, "outside"),
    ("noul huge", YES_NO, {"type": "noul", "noul": 10**400}, "outside"),
    ("choice unknown", CHOICE, choice("d", 1, 0, 0), "not one of"),
    ("choice in other case", CHOICE, choice("A", 1, 0, 0), "not one of"),
    ("choice null", CHOICE, choice(None, 1, 0, 0), "not one of"),
    ("choice a list", CHOICE, choice(["a"], 1, 0, 0), "not one of"),
    ("choice not the argmax", CHOICE, choice("b", 0.5, 0.49, 0.01), "most probable"),
    ("probabilities missing", CHOICE, {"type": "choice", "choice": "a"}, "no probabilities"),
    ("probabilities a list", CHOICE, choice("a") | {"probabilities": [1, 0, 0]}, "not a map"),
    ("a key too few", CHOICE, choice("a", 0.5, 0.5), "exactly the options"),
    ("a key too many", CHOICE, choice("a") | {"probabilities": {"a": 1, "b": 0, "c": 0, "d": 0}},
     "exactly the options"),
    ("a probability text", CHOICE, choice("a", "1", 0, 0), "not a number"),
    ("a probability boolean", CHOICE, choice("a", True, 0, 0), "not a number"),
    ("a probability negative", CHOICE, choice("a", 1.0, -0.1, 0.1), "outside"),
    ("a sum of 1.3", CHOICE, choice("a", 0.9, 0.3, 0.1), "sum"),
    ("a sum of 0", CHOICE, choice("a", 0, 0, 0), "sum"),
    ("a sum just outside", CHOICE, choice("a", 0.5, 0.25, 0.2349), "sum"),
    ("confidence above 1", CHOICE, choice("a", 1, 0, 0, confidence=3), "outside"),
    ("confidence text", CHOICE, choice("a", 1, 0, 0, confidence="high"), "not a number"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "answer", "rule"),
    [row[1:] for row in MALFORMED],
    ids=[row[0] for row in MALFORMED],
)
def test_a_reply_that_does_not_add_up_is_malformed(
    question: Question, answer: Any, rule: str
) -> None:
    whole = "answers" in answer or "model" in answer or "error" in answer
    body = json.dumps(answer).encode() if whole else reply(answer)
    with pytest.raises(MalformedResponse, match=rule):
        got(body, question)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>504</html>",
        b"[]",
        b"null",
        b'"yes"',
        b"\xff",
        b"[" * 100_000,
        b'{"answers":{"decision":{"type":"noul","noul":NaN}}}',
        b'{"answers":{"decision":{"type":"noul","noul":Infinity}}}',
        b'{"answers":{"decision":{"type":"noul","noul":1e999}}}',
        b'{"answers":{"decision":{"type":"noul","noul":' + b"9" * 5000 + b"}}}",
        b'{"answers":{"decision":{"type":"noul","noul":0.9}',
    ],
    ids=str,
)
def test_what_is_no_json_object_is_malformed(body: bytes) -> None:
    with pytest.raises(MalformedResponse):
        got(body, YES_NO)


def test_an_error_never_quotes_the_reply() -> None:
    with pytest.raises(MalformedResponse) as caught:
        got(reply(choice("secret-label", 1, 0, 0)))
    assert "secret-label" not in str(caught.value)


def test_a_provider_may_be_known_to_report_no_probabilities() -> None:
    body = reply({"type": "choice", "choice": "b", "confidence": 0.9})
    answer = got(body, probabilities="none")
    assert (answer.decision, answer.probabilities, answer.provider_confidence) == ("b", None, 0.9)


def test_aliases_are_mapped_back() -> None:
    rules = LabelRules(max_length=3)
    spread = {"A": 0.1, "B": 0.9}
    body = reply({"type": "choice", "choice": "B", "probabilities": spread, "confidence": 0.8})
    answer = got(body, Question(text="?", options=("first", "second")), labels=rules)
    assert answer.decision == "second"
    assert answer.probabilities == {"first": 0.1, "second": 0.9}


def test_the_neutral_choice_is_mapped_back_to_no() -> None:
    spread = {"A": 0.2, "B": 0.8}
    body = reply({"type": "choice", "choice": "B", "probabilities": spread})
    answer = got(body, YES_NO, yes_no=YesNo.CHOICE)
    assert (answer.decision, answer.probabilities) == ("no", {"yes": 0.2, "no": 0.8})


@pytest.mark.parametrize(
    ("usage", "cut"),
    [
        ({"truncated": True}, True),
        ({"truncated": False, "truncated_questions": []}, False),
        ({"truncated_questions": ["decision"]}, True),
        ({"truncated": "yes"}, False),
        ({}, False),
    ],
)
def test_a_cut_input_is_noticed(usage: dict[str, object], cut: bool) -> None:
    assert got(reply(choice("a", 1, 0, 0), usage=usage)).truncated is cut


@pytest.mark.parametrize("gate", [{"abstention": "abstained"}, {"abstain": True}])
def test_a_provider_that_abstains_is_heard(gate: dict[str, object]) -> None:
    assert got(reply(choice("a", 1, 0, 0, **gate))).abstained
    assert not got(reply(choice("a", 1, 0, 0, abstention="passed", abstain=False))).abstained


@pytest.mark.parametrize("question", [YES_NO, CHOICE])
def test_a_refusal_is_an_answer_and_not_a_fault(question: Question) -> None:
    answer = got(reply({"type": "refusal"}), question)
    assert (answer.refused, answer.decision, answer.probabilities) == (True, None, None)


def test_a_wrapped_reply_is_unwrapped() -> None:
    inner = json.loads(reply({"type": "noul", "noul": 0.9}))
    body = json.dumps({"result": {"data": inner}, "success": True}).encode()
    assert got(body, YES_NO, reply_path=("result", "data")).decision == "yes"
    with pytest.raises(MalformedResponse):
        got(body, YES_NO, reply_path=("result", "other"))
