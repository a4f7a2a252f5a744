import json
import math

import pytest

from gateway_core import YesNo
from gateway_core.wire import Question, encode, read

ASKED = {
    "type": "score",
    "instructions": "Rate whether the assistant provided a clear next step.",
    "criteria": ["No clear next step", "Clear next step"],
}


@pytest.mark.anyio
async def test_a_choice_is_answered_with_probabilities_in_the_order_of_its_labels(ask, choice_body):
    reply = await ask(choice_body())
    answer = reply["answers"]["team"]
    assert answer["type"] == "choice"
    assert answer["choice"] == "billing"
    assert list(answer["probabilities"]) == ["billing", "technical", "sales", "account"]
    assert math.isclose(sum(answer["probabilities"].values()), 1)
    top = max(answer["probabilities"].values())
    assert answer["confidence"] == pytest.approx((4 * top - 1) / 3)
    assert reply["model"] == "local-e5-small-1"


@pytest.mark.anyio
async def test_a_two_level_score_question_is_answered(ask):
    state = {"text": "The assistant answered the question and confirmed the next step."}
    body = {"model": "local-e5-small", "state": state, "questions": {"q1": ASKED}}
    answer = (await ask(body))["answers"]["q1"]
    assert answer["legend"] == {"0": "No clear next step", "1": "Clear next step"}
    assert list(answer["probabilities"]) == ["0", "1"]
    assert answer["score"] == pytest.approx(answer["probabilities"]["1"])
    assert 0.5 < answer["score"] < 1
    assert 0 <= answer["confidence"] <= 1


@pytest.mark.anyio
async def test_levels_come_back_in_the_legend_as_they_were_sent(ask, choice_body):
    levels = ["calm", {"level": "angry", "signs": ["insults"]}, ["furious", 3]]
    question = {"type": "score", "instructions": None, "criteria": levels}
    answer = (await ask(choice_body(questions={"q": question})))["answers"]["q"]
    assert answer["legend"] == {"0": levels[0], "1": levels[1], "2": levels[2]}
    expected = sum(int(level) * p for level, p in answer["probabilities"].items())
    assert answer["score"] == pytest.approx(expected)


@pytest.mark.anyio
async def test_every_question_is_answered_under_its_own_key(ask, choice_body):
    question = choice_body()["questions"]["team"]
    keys = ["a", "with space", "질문", "🎯", "q.2"]
    reply = await ask(choice_body(questions=dict.fromkeys(keys, question)))
    assert list(reply["answers"]) == keys
    assert len({json.dumps(answer) for answer in reply["answers"].values()}) == 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    "state",
    [
        {"ticket": "I was charged twice", "wanted": "a refund", "customer": {"id": 7}},
        ["I was charged twice.", "I want a refund.", None, 3.5],
        "I was charged twice and want a refund.",
    ],
    ids=["object", "array", "string"],
)
async def test_a_state_of_any_json_shape_is_read(ask, choice_body, state):
    assert (await ask(choice_body(state=state)))["answers"]["team"]["choice"] == "billing"


@pytest.mark.anyio
@pytest.mark.parametrize("blank", ["", "  \n", {}, []])
async def test_with_a_blank_state_the_instructions_are_what_is_judged(ask, choice_body, blank):
    question = choice_body()["questions"]["team"]
    asked = question | {"instructions": "Who helps me when the app shows an error message?"}
    reply = await ask(choice_body(state=blank, questions={"q": asked}))
    assert reply["answers"]["q"]["choice"] == "technical"


@pytest.mark.anyio
async def test_descriptions_decide_where_labels_say_nothing(ask, choice_body):
    criteria = {"A": "Sport and games", "B": {"about": "Cooking", "also": ["recipes", "baking"]}}
    question = {"type": "choice", "criteria": criteria}
    body = choice_body(state="Knead the dough and bake it for an hour.", questions={"q": question})
    assert (await ask(body))["answers"]["q"]["choice"] == "B"


@pytest.mark.anyio
async def test_one_option_is_certain(ask, choice_body):
    question = {"type": "choice", "criteria": {"only": None}}
    answer = (await ask(choice_body(questions={"q": question})))["answers"]["q"]
    assert answer == {
        "type": "choice",
        "choice": "only",
        "probabilities": {"only": 1.0},
        "confidence": 1.0,
    }


@pytest.mark.anyio
async def test_usage_counts_the_tokens_that_the_model_read(ask, choice_body):
    one = (await ask(choice_body()))["usage"]
    twice = (await ask(choice_body(state=choice_body()["state"] * 2)))["usage"]
    assert one["output_tokens"] == 0
    assert 10 < one["input_tokens"] < twice["input_tokens"] < 2 * one["input_tokens"]


@pytest.mark.anyio
async def test_a_temperature_that_is_set_replaces_the_fitted_one(ask, build, choice_body):
    def top(reply):
        return max(reply["answers"]["team"]["probabilities"].values())

    fitted = top(await ask(choice_body()))
    assert top(await ask(choice_body(), provider=build(temperature=0.5))) < fitted
    assert top(await ask(choice_body(), provider=build(temperature=1e-320))) == 1


def test_the_capabilities_say_what_it_is(build):
    found = build().capabilities
    assert found.keyless
    assert not found.remote
    assert found.yes_no is YesNo.UNSUPPORTED
    assert found.probabilities == "estimated"
    assert found.max_options == 255
    assert "similarity engine" in found.notes[0]


@pytest.mark.anyio
async def test_the_host_reads_what_it_answers_to_the_question_that_the_host_writes(ask, build):
    provider = build()
    options = ("cancel the order", "track the parcel", "return the goods")
    question = Question(text="Where is my parcel? It was due yesterday.", options=options)
    body = encode(question, provider.model, provider.capabilities)
    reply = await ask(body, provider=provider)
    answer = read(json.dumps(reply).encode(), question, provider.capabilities)
    assert answer.decision == "track the parcel"


@pytest.mark.anyio
async def test_the_probe_loads_the_engine(build):
    found = await build().probe(timeout_s=30)
    assert found.ok
    assert "multilingual-e5-small" in found.detail
