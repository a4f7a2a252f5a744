"""Who is told about a decision, and what the log says of it."""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from gateway_core import logs
from gateway_core.decide import Decider, DecisionRecord

pytestmark = pytest.mark.anyio
MakeDecider = Callable[..., Decider]
Script = Callable[..., Any]
ASK = {"question": "Urgent?", "request_id": "r-1"}
NOUL = {"model": "m-1", "answers": {"decision": {"type": "noul", "noul": 0.9}}}


async def test_an_observer_gets_the_call_the_reply_and_the_answer_as_it_came(
    make_decider: MakeDecider, script: Script, notebook: Any
) -> None:
    reply = await make_decider(acme=script([NOUL])).decide(ASK)
    (record,) = notebook.records
    assert record.request.question.text == "Urgent?"
    assert record.reply is reply
    assert record.answer.probabilities["yes"] == 0.9


async def test_an_observer_is_told_of_failures_too(
    make_decider: MakeDecider, script: Script, notebook: Any
) -> None:
    await make_decider(acme=script([{}])).decide(ASK)
    assert notebook.records[0].answer is None
    assert notebook.records[0].reply["status"] == "error"


async def test_an_observer_that_fails_takes_nothing_from_the_caller(
    make_decider: MakeDecider, script: Script, notebook: Any, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        def decided(self, record: DecisionRecord) -> None:
            raise OSError("disk full")

    reply = await make_decider(observers=[Broken()], acme=script([NOUL])).decide(ASK)
    assert reply["status"] == "decided"
    assert len(notebook.records) == 1
    assert "Broken failed" in caplog.text


@pytest.fixture
def lines() -> Any:
    """Every line that the gateway logs, with the id that a formatter would print."""
    found: list[tuple[str, str]] = []

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append((logs.request_id.get(), record.getMessage()))

    logger, handler = logging.getLogger(logs.ROOT), Lines()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel("DEBUG")
    yield found
    logger.setLevel(before)
    logger.removeHandler(handler)


async def test_every_line_of_a_request_carries_its_id(
    make_decider: MakeDecider, script: Script, lines: list[tuple[str, str]]
) -> None:
    decider = make_decider(first=script([RuntimeError("x")]), second=script([NOUL]))
    await decider.decide(ASK)
    await decider.decide({"request_id": "r-2"})
    assert {identity for identity, _ in lines} == {"r-1", "r-2"}
    assert len(lines) > 3
    assert logs.request_id.get() == "-"


async def test_no_line_holds_what_was_asked_or_answered(
    make_decider: MakeDecider, script: Script, lines: list[tuple[str, str]]
) -> None:
    ask = ASK | {"question": "secret-question", "context": {"k": "secret-context"}}
    await make_decider(acme=script([NOUL])).decide(ask)
    assert not any("secret" in text for _, text in lines)


async def test_a_request_id_cannot_forge_a_line(
    make_decider: MakeDecider, script: Script, lines: list[tuple[str, str]]
) -> None:
    identity = "r\n2026 info forged"
    reply = await make_decider(acme=script([NOUL])).decide(ASK | {"request_id": identity})
    assert reply["request_id"] == identity
    assert not any("\n" in shown for shown, _ in lines)
