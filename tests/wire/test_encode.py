"""How one question becomes a provider's body: the table of the capabilities, row by row."""

import json
from typing import Any

import pytest

from gateway_core import Capabilities, EmptyState, Format, LabelRules, YesNo
from gateway_core.wire import Question, encode, why_not_askable, wire_format

SYSTEM_ONE, OPENAI = frozenset({Format.SYSTEMONE}), frozenset({Format.OPENAI})
YES_NO = Question(text="Urgent?", context={"ticket": "Charged twice"})
CHOICE = Question(text="Which team?", options=("sales", "billing", "tech"), context={"t": 1})
MEANINGS = ("yes, this is true", "no, this is not true")


def body(question: Question, model: str = "m", **capabilities: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        encode(question, model, Capabilities(**({"formats": SYSTEM_ONE} | capabilities)))
    )
    return found


def test_yes_or_no_is_a_noul_on_system_one() -> None:
    assert body(YES_NO) == {
        "model": "m",
        "state": {"ticket": "Charged twice"},
        "questions": {"decision": {"type": "noul", "instructions": "Urgent?"}},
    }


def test_options_are_a_choice_on_system_one() -> None:
    assert body(CHOICE)["questions"]["decision"] == {
        "type": "choice",
        "instructions": "Which team?",
        "criteria": {"sales": None, "billing": None, "tech": None},
    }


def test_yes_or_no_is_a_predicate_on_openai() -> None:
    assert body(YES_NO, formats=OPENAI) == {
        "model": "m",
        "input": '{"ticket": "Charged twice"}',
        "questions": [{"type": "predicate", "name": "decision", "instructions": "Urgent?"}],
    }


def test_options_are_a_choice_on_openai() -> None:
    assert body(CHOICE, formats=OPENAI)["questions"] == [
        {
            "type": "choice",
            "name": "decision",
            "instructions": "Which team?",
            "choices": [{"value": "sales"}, {"value": "billing"}, {"value": "tech"}],
        }
    ]


def test_yes_or_no_can_be_a_neutral_choice_on_system_one() -> None:
    criteria = body(YES_NO, yes_no=YesNo.CHOICE)["questions"]["decision"]["criteria"]
    assert list(criteria.items()) == list(zip("AB", MEANINGS, strict=True))


def test_yes_or_no_can_be_a_neutral_choice_on_openai() -> None:
    choices = body(YES_NO, yes_no=YesNo.CHOICE, formats=OPENAI)["questions"][0]["choices"]
    assert choices == [
        {"value": "A", "description": MEANINGS[0]},
        {"value": "B", "description": MEANINGS[1]},
    ]


@pytest.mark.parametrize("formats", [SYSTEM_ONE, OPENAI])
def test_the_order_of_the_options_is_kept(formats: frozenset[Format]) -> None:
    options = tuple(f"option {number * 7 % 60}" for number in range(60))
    asked = body(Question(text="?", options=options), formats=formats)["questions"]
    found = (
        tuple(asked["decision"]["criteria"])
        if formats is SYSTEM_ONE
        else tuple(choice["value"] for choice in asked[0]["choices"])
    )
    assert found == options


@pytest.mark.parametrize(
    ("context", "rule", "state"),
    [
        (None, EmptyState.STRING, ""),
        ({}, EmptyState.STRING, ""),
        (None, EmptyState.QUESTION, "Urgent?"),
        ({}, EmptyState.QUESTION, "Urgent?"),
        ({"a": None}, EmptyState.QUESTION, {"a": None}),
    ],
)
def test_the_state_is_never_null(context: Any, rule: EmptyState, state: object) -> None:
    question = Question(text="Urgent?", context=context)
    assert body(question, empty_state=rule)["state"] == state
    sent = body(question, empty_state=rule, formats=OPENAI)["input"]
    assert sent == (state if isinstance(state, str) else json.dumps(state))


def test_a_question_that_would_be_cut_travels_in_the_state() -> None:
    question = Question(text="x" * 101, options=("a", "b"), context={"k": "v"})
    sent = body(question, instructions_length=100)
    assert sent["state"] == {"question": "x" * 101, "context": {"k": "v"}}
    assert len(sent["questions"]["decision"]["instructions"]) < 100
    assert "question" in sent["questions"]["decision"]["instructions"]


def test_a_long_question_without_context_is_the_whole_state() -> None:
    assert body(Question(text="x" * 9), instructions_length=8)["state"] == {"question": "x" * 9}


def test_a_question_that_fits_stays_in_the_instructions() -> None:
    sent = body(Question(text="x" * 8), instructions_length=8)
    assert sent["questions"]["decision"]["instructions"] == "x" * 8


@pytest.mark.parametrize(
    ("options", "rules", "aliased"),
    [
        (("a" * 11, "b"), LabelRules(max_length=10), True),
        (("a" * 10, "b"), LabelRules(max_length=10), False),
        (("a\nb", "c"), LabelRules(control_characters=False), True),
        (("a\u2028b", "c"), LabelRules(control_characters=False), True),
        (("a\x7fb", "c"), LabelRules(control_characters=False), True),
        (("a\nb", "c"), LabelRules(), False),
        (("ä 質問 🎯", "c"), LabelRules(control_characters=False), False),
        (("Yes", "yes"), LabelRules(case_sensitive=False), True),
        (("yes ", "yes"), LabelRules(case_sensitive=False), True),
        (("STRASSE", "straße"), LabelRules(case_sensitive=False), True),
        (("Yes", "yes"), LabelRules(), False),
    ],
)
def test_labels_that_a_provider_forbids_travel_as_aliases(
    options: tuple[str, ...], rules: LabelRules, aliased: bool
) -> None:
    question = Question(text="?", options=options)
    criteria = body(question, labels=rules)["questions"]["decision"]["criteria"]
    aliases = dict(zip("AB", options, strict=True))
    assert criteria == (aliases if aliased else dict.fromkeys(options))


def test_aliases_go_on_after_z() -> None:
    question = Question(text="?", options=tuple(f"{n}!!" for n in range(256)))
    criteria = body(question, labels=LabelRules(max_length=2))["questions"]["decision"]["criteria"]
    assert list(criteria)[24:29] == ["Y", "Z", "AA", "AB", "AC"]
    assert len(criteria) == 256
    assert list(criteria.values()) == list(question.outcomes)


def test_a_provider_without_a_model_gets_none() -> None:
    assert "model" not in body(YES_NO, model="")
    assert "model" not in body(YES_NO, model="", formats=OPENAI)


def test_text_goes_out_as_utf8() -> None:
    sent = encode(Question(text="Größe 質?"), "m", Capabilities(formats=SYSTEM_ONE))
    assert "Größe 質?".encode() in sent


def test_a_provider_of_both_formats_is_asked_in_system_one() -> None:
    assert wire_format(Capabilities(formats=SYSTEM_ONE | OPENAI)) is Format.SYSTEMONE
    assert wire_format(Capabilities(formats=OPENAI)) is Format.OPENAI


@pytest.mark.parametrize(
    ("question", "limits", "says"),
    [
        (Question(text="?", options=tuple("abc")), {"max_options": 2}, "at most 2 options"),
        (Question(text="?", options=tuple("ab")), {"max_options": 2}, None),
        (Question(text="?", options=tuple("abc")), {"max_options": None}, None),
        (Question(text="xxx"), {"max_question_length": 2}, "at most 2 characters"),
        (Question(text="xx"), {"max_question_length": 2}, None),
        (Question(text="xxx"), {"max_question_length": 2, "instructions_length": 2}, None),
    ],
)
def test_what_a_provider_cannot_take_is_known_before_the_call(
    question: Question, limits: dict[str, Any], says: str | None
) -> None:
    found = why_not_askable(question, Capabilities(formats=SYSTEM_ONE, **limits))
    assert found is None if says is None else says in str(found)
