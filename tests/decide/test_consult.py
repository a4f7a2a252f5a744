"""Order check and tournament: opt-in, and their cost in the reply."""

import json

import anyio
import attrs
import pytest

from gateway_core import Capabilities, DecisionReply, Format
from gateway_core.config.model import DecideConfig
from gateway_core.errors import Overloaded

pytestmark = pytest.mark.anyio
SYSTEMONE = Capabilities(formats=frozenset({Format.SYSTEMONE}), keyless=True)
OPTIONS = ["red", "green", "blue"]
ASKED = {"question": "Which colour?", "options": OPTIONS}


def scripts(script, weigh, **capabilities):
    """Return a script that gives each option ``weigh(option, place)``, normalised."""

    class Weighing(script):
        async def answer(self, request):
            self.asked.append(request)
            labels = list(json.loads(request.body)["questions"]["decision"]["criteria"])
            weights = {label: weigh(label, place) for place, label in enumerate(labels)}
            spread = {label: weight / sum(weights.values()) for label, weight in weights.items()}
            choice = {"choice": max(spread, key=spread.get), "probabilities": spread}
            answers = {"decision": {"type": "choice", **choice}}
            return DecisionReply(body=json.dumps({"model": "m", "answers": answers}).encode())

    return Weighing(capabilities=attrs.evolve(SYSTEMONE, **capabilities))


def by_name(label, place):
    return {"red": 6.0, "green": 2.0, "blue": 2.0}[label]


def by_place(label, place):
    return (8.0, 1.0, 1.0)[place]


async def test_a_question_is_asked_once_unless_more_is_wanted(script, make_decider):
    acme = scripts(script, by_place)
    reply = await make_decider(acme=acme).decide(ASKED)
    assert (reply["decision"], reply["attempts"][0]["calls"]) == ("red", 1)
    assert len(acme.asked) == 1


@pytest.mark.parametrize("configured", [True, False])
async def test_orders_that_agree_leave_the_answer_as_it_is(script, make_decider, configured):
    acme = scripts(script, by_name)
    settings = DecideConfig(order_check=("acme",) if configured else ())
    asked = ASKED if configured else ASKED | {"order_check": True}
    reply = await make_decider(settings, acme=acme).decide(asked)
    assert (reply["decision"], reply["confidence"]) == ("red", pytest.approx(0.6))
    assert (len(acme.asked), reply["attempts"][0]["calls"]) == (2, 2)
    sent = [list(json.loads(r.body)["questions"]["decision"]["criteria"]) for r in acme.asked]
    assert sent == [OPTIONS, OPTIONS[::-1]]


async def test_orders_that_disagree_abstain(script, make_decider):
    acme = scripts(script, by_place)
    reply = await make_decider(acme=acme).decide(ASKED | {"order_check": True})
    assert (reply["status"], reply["reason"]) == ("abstained", "order_unstable")
    assert "reversed" in reply["rationale"]
    assert reply["attempts"][0]["calls"] == 2


async def test_orders_that_disagree_may_come_to_the_mean(script, make_decider):
    settings = DecideConfig(order_check=("acme",), order_unstable="mean", threshold=0.4)
    reply = await make_decider(settings, acme=scripts(script, by_place)).decide(ASKED)
    assert (reply["decision"], reply["confidence"]) == ("red", pytest.approx(0.45))
    assert reply["probabilities"] == pytest.approx({"red": 0.45, "green": 0.1, "blue": 0.45})
    assert reply["attempts"][0]["detail"].endswith("the mean counts")


async def test_a_call_can_do_without_what_is_configured(script, make_decider):
    acme = scripts(script, by_place)
    settings = DecideConfig(order_check=("acme",))
    reply = await make_decider(settings, acme=acme).decide(ASKED | {"order_check": False})
    assert (reply["decision"], len(acme.asked)) == ("red", 1)


async def test_yes_and_no_have_no_order_to_check(script, make_decider):
    answer = {"model": "m", "answers": {"decision": {"type": "noul", "noul": 0.9}}}
    acme = script([answer])
    reply = await make_decider(acme=acme).decide({"question": "Late?", "order_check": True})
    assert (reply["decision"], len(acme.asked)) == ("yes", 1)


async def test_a_failed_second_pass_leads_on_to_the_next_provider(script, make_decider):
    first = scripts(script, by_name)

    class FailsSecond(type(first)):
        async def answer(self, request):
            if self.asked:
                self.asked.append(request)
                raise Overloaded("busy")
            return await super().answer(request)

    acme = FailsSecond(capabilities=SYSTEMONE)
    decider = make_decider(acme=acme, backup=scripts(script, by_name))
    reply = await decider.decide(ASKED | {"order_check": True})
    assert reply["provider"] == "backup"
    assert [(a["outcome"], a["calls"]) for a in reply["attempts"]] == [("error", 2), ("ok", 2)]


def weigh_number(label, place):
    return 1000.0 if label == "o77" else 1.0 + int(label[1:]) / 1000


MANY = {"question": "Which?", "options": [f"o{number}" for number in range(256)]}


@pytest.mark.parametrize(("limit", "rounds", "calls"), [(20, 2, 14), (100, 2, 4), (2, 8, 255)])
async def test_a_tournament_finds_the_best_of_many(script, make_decider, limit, rounds, calls):
    acme = scripts(script, weigh_number, max_options=limit)
    reply = await make_decider(acme=acme).decide(MANY | {"tournament": True})
    assert (reply["decision"], reply["attempts"][0]["calls"]) == ("o77", calls)
    assert len(acme.asked) == calls
    told = f"256 options in {rounds} rounds and {calls} calls"
    assert told in reply["attempts"][0]["detail"]
    weights = {option: weigh_number(option, 0) for option in MANY["options"]}
    expected = {option: weight / sum(weights.values()) for option, weight in weights.items()}
    assert reply["probabilities"] == pytest.approx(expected)


async def test_an_odd_one_out_goes_on_without_a_call(script, make_decider):
    acme = scripts(script, by_name, max_options=2)
    reply = await make_decider(acme=acme).decide(ASKED | {"tournament": True})
    assert (reply["decision"], reply["confidence"]) == ("red", pytest.approx(0.6))
    assert reply["attempts"][0]["calls"] == 2


async def test_without_a_tournament_a_list_over_the_limit_is_skipped(script, make_decider):
    acme = scripts(script, by_name, max_options=2)
    reply = await make_decider(acme=acme).decide(ASKED)
    assert reply["status"] == "error"
    assert (reply["attempts"][0]["calls"], acme.asked) == (0, [])


async def test_who_takes_one_option_at_a_time_plays_no_tournament(script, make_decider):
    acme = scripts(script, by_name, max_options=1)
    with anyio.fail_after(10):
        reply = await make_decider(acme=acme).decide(ASKED | {"tournament": True})
    assert (reply["status"], acme.asked) == ("error", [])
    assert "at most 1 options" in reply["error"]["message"]


async def test_a_list_within_the_limit_is_no_tournament(script, make_decider):
    acme = scripts(script, by_name)
    settings = DecideConfig(tournament=("acme",))
    await make_decider(settings, acme=acme).decide(ASKED)
    assert len(acme.asked) == 1


async def test_a_refusal_ends_a_tournament(script, make_decider):
    refusal = {"model": "m", "answers": {"decision": {"type": "refusal", "refusal": "no"}}}
    acme = script([refusal], capabilities=attrs.evolve(SYSTEMONE, max_options=2))
    reply = await make_decider(acme=acme).decide(ASKED | {"tournament": True})
    assert (reply["reason"], reply["attempts"][0]["calls"]) == ("refused", 1)


@pytest.mark.parametrize("field", ["order_check", "tournament"])
@pytest.mark.parametrize("value", ["yes", 1, None])
async def test_a_switch_that_is_no_boolean_is_refused(script, make_decider, field, value):
    reply = await make_decider(acme=script()).decide(ASKED | {field: value})
    assert reply["error"]["code"] == "invalid_request"
    assert field in reply["error"]["message"]


def leaning(script, *answers):
    """Return a script whose model says these probabilities of yes, one a call."""
    return script(
        [{"model": "m", "answers": {"decision": {"type": "noul", "noul": p}}} for p in answers]
    )


POLAR = {"question": "Is it urgent?", "opposite": "Can it wait?", "context": {"age_h": 3}}


@pytest.mark.parametrize(("first", "second", "decision"), [(0.9, 0.2, "yes"), (0.1, 0.7, "no")])
async def test_answers_to_a_question_and_its_opposite_that_fit_leave_the_first_as_it_is(
    script, make_decider, first, second, decision
):
    acme = leaning(script, first, second)
    reply = await make_decider(acme=acme).decide(POLAR)
    assert (reply["decision"], reply["confidence"]) == (decision, pytest.approx(0.9))
    assert reply["attempts"][0]["calls"] == 2
    assert reply["attempts"][0]["detail"] == "polarity check: both agree"
    bodies = [json.loads(request.body) for request in acme.asked]
    asked = [body["questions"]["decision"]["instructions"] for body in bodies]
    assert asked == [POLAR["question"], POLAR["opposite"]]
    assert [body["state"] for body in bodies] == [POLAR["context"]] * 2


@pytest.mark.parametrize(("first", "second"), [(0.9, 0.8), (0.1, 0.2)])
async def test_a_yes_or_a_no_to_both_wordings_abstains(script, make_decider, first, second):
    later = leaning(script, 0.9)
    reply = await make_decider(acme=leaning(script, first, second), later=later).decide(POLAR)
    assert (reply["status"], reply["reason"]) == ("abstained", "polarity_conflict")
    assert "contradicts itself" in reply["rationale"]
    assert reply["decision"] is None
    assert later.asked == []


async def test_a_refusal_of_the_opposite_is_the_answer(script, make_decider):
    refusal = {"answers": {"decision": {"type": "refusal"}}}
    yes = {"model": "m", "answers": {"decision": {"type": "noul", "noul": 0.9}}}
    reply = await make_decider(acme=script([yes, refusal])).decide(POLAR)
    assert (reply["status"], reply["reason"]) == ("abstained", "refused")


async def test_a_failure_of_the_opposite_leads_on(script, make_decider):
    yes = {"model": "m", "answers": {"decision": {"type": "noul", "noul": 0.9}}}
    second = leaning(script, 0.9, 0.1)
    reply = await make_decider(acme=script([yes, Overloaded("busy")]), second=second).decide(POLAR)
    assert (reply["provider"], reply["decision"]) == ("second", "yes")
    assert [attempt["calls"] for attempt in reply["attempts"]] == [2, 2]


async def test_a_provider_that_cannot_take_the_opposite_is_not_asked_at_all(script, make_decider):
    short = attrs.evolve(SYSTEMONE, max_question_length=20)
    acme = script([{"answers": {}}], short)
    asked = {"question": "Late?", "opposite": "Will it be there in good time?"}
    reply = await make_decider(acme=acme, second=leaning(script, 0.9, 0.1)).decide(asked)
    assert (reply["provider"], acme.asked) == ("second", [])
    assert "at most 20 characters" in reply["attempts"][0]["detail"]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"opposite": " "}, "opposite: must be a string that is not blank"),
        ({"opposite": None}, "opposite: must be a string that is not blank"),
        ({"opposite": "x" * 8_001}, "opposite: must have at most 8,000 characters"),
        ({"opposite": "Late?"}, "opposite: must be the question in the opposite wording"),
        ({"opposite": "On time?", "options": ["a", "b"]}, "opposite: is for yes/no questions"),
    ],
)
async def test_an_opposite_that_is_none_is_an_invalid_request(script, make_decider, fields, says):
    acme = leaning(script, 0.9)
    reply = await make_decider(acme=acme).decide({"question": "Late?"} | fields)
    assert reply["error"]["code"] == "invalid_request"
    assert reply["error"]["message"].startswith(says)
    assert acme.asked == []
