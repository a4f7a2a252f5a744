"""Asking many questions: within bounds, resumable, and not on and on in vain."""

import asyncio
from time import perf_counter

import pytest

from gateway_core.errors import Overloaded
from gateway_core.evaluation.answers import Answers
from gateway_core.evaluation.asking import AskingBounds, ask_all, examples_of, missing
from gateway_core.evaluation.labelled import labelled_row
from gateway_core.wire import Answer

pytestmark = pytest.mark.anyio


def questions(count):
    return [labelled_row({"question": f"Is it {n}?", "gold": "yes"}) for n in range(count)]


async def sure(question):
    return Answer(decision="yes", probabilities={"yes": 0.9, "no": 0.1}, model="m-1")


@pytest.fixture
def answers(tmp_path):
    return Answers.load(tmp_path / "kept" / "answers.jsonl")


async def asked(them, ask, answers, concurrency=1, per_minute=None):
    done = []
    bounds = AskingBounds(concurrency=concurrency, per_minute=per_minute)
    found = await ask_all(them, ask, answers, model="m", bounds=bounds, progress=done.append)
    assert sum(done) == found.answered + found.failed
    return found


async def test_every_question_is_asked_once_and_its_answer_kept(answers):
    them = questions(20)
    assert (await asked(them, sure, answers, concurrency=4)).answered == 20
    again = Answers.load(answers.path)
    assert missing(them, again, "p") == []
    examples = examples_of(them, again, "p")
    assert len(examples) == 20
    assert (examples[0].model, examples[0].probabilities) == ("m-1", (0.9, 0.1))
    assert (examples[0].provider, examples[0].question_type) == ("p", "yes_no")


async def test_asking_goes_on_where_it_stopped(answers):
    them = questions(6)
    await asked(them[:4], sure, answers)
    assert missing(them, Answers.load(answers.path), "p") == them[4:]


async def test_a_line_that_a_crash_cut_short_is_asked_again(answers):
    them = questions(3)
    await asked(them[:2], sure, answers)
    whole = answers.path.read_bytes()
    answers.path.write_bytes(whole[:-20])
    again = Answers.load(answers.path)
    assert missing(them, again, "p") == them[1:]
    await asked(them[1:], sure, again)
    assert missing(them, Answers.load(answers.path), "p") == []


async def test_a_recorded_answer_is_not_asked_for(answers):
    row = {"question": "Late?", "gold": "no", "provider": "p", "model": "m"}
    recorded = labelled_row(row | {"probabilities": {"yes": 0.2, "no": 0.8}})
    assert missing([recorded], answers, "p") == []
    assert missing([recorded], answers, "other") == [recorded]
    assert examples_of([recorded], answers, "p") == [recorded.recorded]


async def test_no_more_questions_are_under_way_than_allowed(answers):
    under_way, most = 0, 0

    async def counted(question):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return await sure(question)

    await asked(questions(30), counted, answers, concurrency=3)
    assert most == 3


async def test_no_more_questions_a_minute_are_asked_than_allowed(answers):
    begun = perf_counter()
    await asked(questions(6), sure, answers, concurrency=6, per_minute=6000)
    assert perf_counter() - begun >= 0.05


async def test_failures_are_counted_and_can_be_asked_again(answers):
    async def flaky(question):
        if "3" in question.text:
            raise Overloaded("busy")
        return await sure(question)

    them = questions(6)
    found = await asked(them, flaky, answers)
    assert (found.answered, found.failed, found.last_error) == (5, 1, "busy")
    assert not found.gave_up
    assert missing(them, answers, "p") == [them[3]]


async def test_asking_stops_when_nothing_is_answered_any_more(answers):
    calls = []

    async def down(question):
        calls.append(question)
        raise Overloaded("down")

    found = await asked(questions(100), down, answers)
    assert found.gave_up
    assert len(calls) == 10


async def test_a_refusal_is_kept_but_is_no_example(answers):
    async def refuses(question):
        return Answer(refused=True)

    them = questions(1)
    await asked(them, refuses, answers)
    again = Answers.load(answers.path)
    assert missing(them, again, "p") == []
    assert examples_of(them, again, "p") == []
