"""What becomes of an answer: decided or abstained, with the numbers that say why."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway_core import Capabilities, Format
from gateway_core.calibration import Calibrator
from gateway_core.config.model import DecideConfig
from gateway_core.decide import Decider

pytestmark = pytest.mark.anyio
MakeDecider = Callable[..., Decider]
Script = Callable[..., Any]
ASK = {"question": "Urgent?"}
TEAMS = {"question": "Which team?", "options": ["billing", "tech", "sales"]}


def noul(probability: float, **envelope: object) -> dict[str, object]:
    return {"model": "m-1", "answers": {"decision": {"type": "noul", "noul": probability}}} | (
        envelope
    )


def choice(winner: str, *spread: float, **more: object) -> dict[str, object]:
    probabilities = dict(zip(TEAMS["options"], spread, strict=True))
    answer = {"type": "choice", "choice": winner, "probabilities": probabilities, **more}
    return {"model": "m-1", "answers": {"decision": answer}}


async def test_confidence_is_the_probability_of_the_decision(
    make_decider: MakeDecider, script: Script
) -> None:
    answer = choice("billing", 0.7, 0.2, 0.1, confidence=0.55)
    reply = await make_decider(acme=script([answer])).decide(TEAMS)
    assert (reply["decision"], reply["confidence"]) == ("billing", 0.7)
    assert reply["probabilities"] == {"billing": 0.7, "tech": 0.2, "sales": 0.1}
    assert (reply["provider_confidence"], reply["model"]) == (0.55, "m-1")
    assert (reply["calibrated"], reply["calibration"], reply["reason"]) == (False, None, None)
    assert reply["threshold"] == 0.6


@pytest.mark.parametrize(("yes", "decision", "sure"), [(0.9, "yes", 0.9), (0.2, "no", 0.8)])
async def test_a_yes_or_no_is_as_sure_as_the_likelier_side(
    make_decider: MakeDecider, script: Script, yes: float, decision: str, sure: float
) -> None:
    reply = await make_decider(acme=script([noul(yes)])).decide(ASK)
    assert (reply["decision"], reply["confidence"]) == (decision, sure)


async def test_below_the_threshold_it_abstains_and_keeps_the_numbers(
    make_decider: MakeDecider, script: Script
) -> None:
    reply = await make_decider(acme=script([choice("tech", 0.3, 0.4, 0.3)])).decide(TEAMS)
    assert (reply["status"], reply["decision"]) == ("abstained", None)
    assert (reply["reason"], reply["confidence"]) == ("below_threshold", 0.4)
    assert reply["rationale"] == reply["attempts"][0]["detail"]
    assert "40.0%" in reply["rationale"]
    assert "60.0%" in reply["rationale"]


@pytest.mark.parametrize(
    ("asked", "own", "default", "counts"),
    [
        (0.3, {"acme": 0.9}, 0.8, 0.3),
        (None, {"acme": 0.9}, 0.8, 0.9),
        (None, {"other": 0.9}, 0.8, 0.8),
        (0, {"acme": 0.9}, 0.8, 0.0),
        (1, {}, 0.0, 1.0),
    ],
)
async def test_the_calls_threshold_wins_over_the_providers_and_that_over_the_default(
    make_decider: MakeDecider,
    script: Script,
    *,
    asked: float | None,
    own: dict[str, float],
    default: float,
    counts: float,
) -> None:
    decider = make_decider(
        DecideConfig(threshold=default), thresholds=own, acme=script([noul(0.85)])
    )
    ask = ASK if asked is None else ASK | {"min_confidence": asked}
    reply = await decider.decide(ask)
    assert reply["threshold"] == counts
    assert reply["status"] == ("decided" if counts <= 0.85 else "abstained")


async def test_a_confidence_at_the_threshold_is_enough(
    make_decider: MakeDecider, script: Script
) -> None:
    reply = await make_decider(acme=script([noul(0.32)])).decide(ASK | {"min_confidence": 0.68})
    assert reply["decision"] == "no"


async def test_a_refusal_is_reported_as_such(make_decider: MakeDecider, script: Script) -> None:
    refusal = {"model": "m-1", "answers": {"decision": {"type": "refusal"}}}
    reply = await make_decider(acme=script([refusal])).decide(ASK)
    assert (reply["status"], reply["reason"], reply["confidence"]) == ("abstained", "refused", None)
    assert reply["model"] == "m-1"


@pytest.mark.parametrize(("abstains", "status"), [(False, "decided"), (True, "abstained")])
async def test_a_cut_input_is_a_warning_and_on_request_an_abstention(
    make_decider: MakeDecider, script: Script, abstains: bool, status: str
) -> None:
    acme = script([noul(0.9, usage={"truncated": True})])
    settings = DecideConfig(abstain_when_truncated=abstains)
    reply = await make_decider(settings, acme=acme).decide(ASK)
    assert reply["status"] == status
    assert reply["reason"] == ("truncated" if abstains else None)
    assert "cut the input" in reply["warnings"][0]


async def test_the_limits_of_the_provider_are_in_the_warnings(
    make_decider: MakeDecider, script: Script
) -> None:
    limits = Capabilities(
        formats=frozenset({Format.SYSTEMONE}), keyless=True, notes=("a similarity engine",)
    )
    reply = await make_decider(acme=script([noul(0.9)], limits)).decide(ASK)
    assert reply["warnings"] == ["a similarity engine"]


async def test_without_probabilities_only_a_threshold_of_zero_is_met(
    make_decider: MakeDecider, script: Script
) -> None:
    limits = Capabilities(formats=frozenset({Format.SYSTEMONE}), keyless=True, probabilities="none")
    answer = {"answers": {"decision": {"type": "choice", "choice": "tech", "confidence": 0.99}}}
    decider = make_decider(acme=script([answer], limits))
    reply = await decider.decide(TEAMS)
    assert (reply["reason"], reply["probabilities"]) == ("below_threshold", None)
    reply = await decider.decide(TEAMS | {"min_confidence": 0})
    assert (reply["decision"], reply["confidence"]) == ("tech", None)
    assert reply["provider_confidence"] == 0.99


async def test_a_fit_that_matches_is_applied_and_told(
    make_decider: MakeDecider, script: Script, fits: Callable[..., Calibrator]
) -> None:
    fitted = fits(provider="acme", model="m-1", question_type="yes_no", temperature=2.0)
    reply = await make_decider(calibrator=fitted, acme=script([noul(0.9)])).decide(ASK)
    assert (reply["calibrated"], reply["confidence"]) == (True, pytest.approx(0.75))
    assert reply["probabilities"]["no"] == pytest.approx(0.25)
    assert reply["calibration"]["temperature"] == 2.0
    assert reply["calibration"]["examples"] == 100


async def test_calibration_comes_before_the_threshold(
    make_decider: MakeDecider, script: Script, fits: Callable[..., Calibrator]
) -> None:
    fitted = fits(provider="acme", model="m-1", question_type="yes_no", temperature=2.0)
    decider = make_decider(calibrator=fitted, acme=script([noul(0.9)]))
    reply = await decider.decide(ASK | {"min_confidence": 0.8})
    assert (reply["reason"], reply["confidence"]) == ("below_threshold", pytest.approx(0.75))


async def test_a_fit_for_another_model_is_not_applied_and_warned_about(
    make_decider: MakeDecider, script: Script, fits: Callable[..., Calibrator]
) -> None:
    fitted = fits(provider="acme", model="m-0", question_type="yes_no", temperature=2.0)
    reply = await make_decider(calibrator=fitted, acme=script([noul(0.9)])).decide(ASK)
    assert (reply["calibrated"], reply["confidence"]) == (False, 0.9)
    assert "stale" in reply["warnings"][0]


async def test_paused_means_abstain_until_it_is_switched_on_again(
    make_decider: MakeDecider, script: Script
) -> None:
    off = [True]
    acme = script([noul(0.9)])
    decider = make_decider(is_paused=lambda: off[0], acme=acme)
    reply = await decider.decide(ASK)
    assert (reply["status"], reply["reason"], reply["attempts"]) == ("abstained", "paused", [])
    assert "paused" in reply["rationale"]
    assert acme.asked == []
    off[0] = False
    assert (await decider.decide(ASK))["status"] == "decided"


async def test_an_invalid_request_is_invalid_even_while_paused(make_decider: MakeDecider) -> None:
    reply = await make_decider(is_paused=lambda: True).decide({})
    assert reply["error"]["code"] == "invalid_request"
