"""Labelled files: what a line may hold, and what is said of one that cannot be used."""

import json

import pytest

from gateway_core.errors import InvalidRequest
from gateway_core.evaluation.labelled import read_labelled

ASKED = {"question": "Who takes this?", "options": ["sales", "billing"], "gold": "billing"}
ANSWER = {"probabilities": {"billing": 0.7, "sales": 0.3}, "provider": "p", "model": "m"}
NO_CONTENT = {
    "question_type": "options",
    "probabilities": [0.2, 0.5, 0.3],
    "provider": "p",
    "model": "m",
    "digest": "d1",
    "gold": 2,
}


def read(*rows, skip_bad=False):
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    found, left_out = read_labelled(lines, skip_bad=skip_bad)
    assert left_out + len(found) == len([line for line in lines if line.strip()])
    return found


def test_a_line_with_a_question_and_its_answer():
    (found,) = read(ASKED | {"context": {"plan": "pro"}})
    assert (found.question.text, found.question.options) == (
        "Who takes this?",
        ("sales", "billing"),
    )
    assert (found.question.context, found.gold, found.recorded) == ({"plan": "pro"}, 1, None)


def test_a_recorded_answer_is_put_into_the_options_order():
    (found,) = read(ASKED | ANSWER | {"latency_ms": 4})
    one = found.recorded
    assert (one.probabilities, one.gold, one.latency_ms) == ((0.3, 0.7), 1, 4.0)
    assert (one.provider, one.model, one.question_type) == ("p", "m", "options")


def test_a_yes_no_line_has_no_options():
    answer = {"probabilities": {"yes": 0.9, "no": 0.1}, "provider": "p", "model": "m"}
    (found,) = read({"question": "Late?", "gold": "no"} | answer)
    assert (found.gold, found.recorded.question_type) == (1, "yes_no")


def test_a_question_may_have_yes_and_no_as_options():
    answer = {"probabilities": {"yes": 0.9, "no": 0.1}, "provider": "p", "model": "m"}
    (found,) = read({"question": "Late?", "options": ["yes", "no"], "gold": "no"} | answer)
    assert found.recorded.question_type == "options"


def test_a_line_without_content_names_options_by_their_place():
    (found,) = read(NO_CONTENT)
    assert (found.question, found.key, found.gold) == (None, "d1", 2)
    assert found.recorded.probabilities == (0.2, 0.5, 0.3)


def test_a_line_without_a_question_may_name_its_options_in_its_probabilities():
    row = ANSWER | {"gold": "billing"}
    first, second = read(row, row)
    assert (first.recorded.options, first.gold) == (("billing", "sales"), 0)
    assert first.key != second.key
    (found,) = read(row | {"probabilities": {"no": 0.3, "yes": 0.7}, "gold": "yes"})
    assert (found.recorded.question_type, found.recorded.probabilities) == ("yes_no", (0.7, 0.3))


def test_a_byte_order_mark_and_dos_line_ends_are_no_fault():
    line = json.dumps(ASKED).encode()
    assert len(read(b"\xef\xbb\xbf" + line + b"\r\n", line + b"\r\n")) == 2


def test_names_of_any_script_are_options():
    names = ("__proto__", "constructor", "日本 🎯")
    (found,) = read({"question": "?", "options": list(names), "gold": names[2]})
    assert (found.question.options, found.gold) == (names, 2)


def test_equal_questions_have_equal_keys_whoever_answered():
    first, second, other = read(ASKED, ASKED | ANSWER, ASKED | {"options": ["billing", "sales"]})
    assert first.key == second.key != other.key


def test_rounded_probabilities_are_made_to_sum_to_1():
    answer = ANSWER | {"probabilities": {"billing": 0.66, "sales": 0.33}}
    assert sum(read(ASKED | answer)[0].recorded.probabilities) == pytest.approx(1)


BAD = [
    (b"{", "not JSON"),
    (b"[" * 100_000, "nested more than 128 deep"),
    (b'{"question": "?", "gold": "yes", "gold": "no"}', "'gold' occurs twice"),
    (b'{"question": "Was it caf\xe9?", "gold": "yes"}', "not UTF-8"),
    (json.dumps(ASKED).encode("utf-16"), "not UTF-8"),
    (json.dumps(ASKED).encode("utf-16-le"), "not UTF-8"),
    (b"[1]", "not a JSON object"),
    (ASKED | {"gold": "legal"}, "gold: 'legal' is not among the options"),
    (ASKED | {"gold": None}, "gold: missing"),
    (ASKED | {"gold": 1}, "gold: 1 is not among the options"),
    (ASKED | {"options": ["a", "a"]}, "options[1]"),
    (ASKED | {"question": " "}, "question"),
    ({"gold": "yes"}, "neither a question nor probabilities"),
    (ASKED | ANSWER | {"probabilities": {"billing": 0.7, "sales": 0.5}}, "sum to 1.2, not to 1"),
    (ASKED | ANSWER | {"probabilities": {"billing": 1.0}}, "not over exactly the options"),
    (ASKED | ANSWER | {"probabilities": {"billing": 2, "sales": -1}}, "within [0, 1]"),
    (ASKED | ANSWER | {"probabilities": {"billing": "1", "sales": 0}}, "must be numbers"),
    (ASKED | ANSWER | {"probabilities": [0.2, 0.3, 0.5]}, "not as many"),
    (ASKED | ANSWER | {"model": None}, "the provider and the model"),
    (ASKED | ANSWER | {"latency_ms": "4"}, "latency_ms: must be a number"),
    (ASKED | ANSWER | {"latency_ms": -1}, "latency_ms: must be a number"),
    (ASKED | ANSWER | {"latency_ms": float("nan")}, "NaN is not JSON"),
    (ASKED | ANSWER | {"probabilities": {"billing": float("nan"), "sales": 1}}, "NaN is not JSON"),
    (NO_CONTENT | {"question_type": "score"}, "question_type: must be"),
    (NO_CONTENT | {"gold": 3}, "gold: 3 is not the place of an option"),
    (NO_CONTENT | {"gold": -1}, "gold: must be the place"),
    (NO_CONTENT | {"gold": True}, "gold: must be the place"),
]


@pytest.mark.parametrize(("row", "said"), BAD)
def test_a_bad_line_is_named_by_its_number(row, said):
    with pytest.raises(InvalidRequest) as caught:
        read(ASKED, b"\r\n", row)
    assert str(caught.value).startswith("line 3: ")
    assert said in str(caught.value)


@pytest.mark.parametrize(("row", "said"), BAD)
def test_the_rest_is_used_when_bad_lines_are_skipped(row, said):
    assert len(read(ASKED, row, ASKED, skip_bad=True)) == 2


def test_many_bad_lines_are_summed_up():
    with pytest.raises(InvalidRequest, match="and 5 more"):
        read(*[b"{"] * 25)
