"""What middleware can do, and what it cannot do to others."""

import logging
import sqlite3
from contextlib import closing
from time import perf_counter
from typing import Any

import jsonschema
import pytest

from gateway_core.pause import Pause
from gateway_core.schema import RESPONSE
from gateway_core.testing import Raw, Reply, ScriptedUpstream

pytestmark = pytest.mark.anyio
ASK = {"question": "Is secret-word urgent?", "request_id": "r-1"}


async def asked(gateway, *names: str, **options: Any) -> dict[str, Any]:
    async with gateway(*names, **options) as opened:
        reply = await opened.decide(ASK)
    jsonschema.validate(reply, RESPONSE)
    return reply


def trace() -> list[Any]:
    import acme_middleware

    return acme_middleware.trace


async def test_a_middleware_changes_what_is_asked(gateway, upstream: ScriptedUpstream) -> None:
    reply = await asked(gateway, "redact")

    (received,) = upstream.requests
    assert received.json()["questions"]["decision"]["instructions"] == "Is *** urgent?"
    assert (reply["status"], reply["decision"], reply["request_id"]) == ("decided", "yes", "r-1")
    assert [attempt["outcome"] for attempt in reply["attempts"]] == ["ok"]


@pytest.mark.parametrize(
    ("names", "seen"),
    [(("redact", "audit"), "Is *** urgent?"), (("audit", "redact"), ASK["question"])],
)
async def test_the_order_is_the_configurations(gateway, names: tuple[str, ...], seen: str) -> None:
    await asked(gateway, *names)

    (heard,) = [entry for entry in trace() if isinstance(entry, tuple)]
    assert heard == (seen, "decided", "")


async def test_a_middleware_answers_in_place_of_the_chain(
    gateway, upstream: ScriptedUpstream
) -> None:
    reply = await asked(gateway, "audit", "refuse", "redact")

    assert (reply["status"], reply["reason"]) == ("abstained", "refused")
    assert reply["rationale"] == "nobody approved it"
    assert (reply["attempts"], upstream.requests) == ([], ())
    assert trace() == [(ASK["question"], "abstained", "")]


async def test_every_attempt_of_several_passes_could_be_asked(
    gateway, upstream: ScriptedUpstream
) -> None:
    reply = await asked(gateway, "twice")

    assert len(upstream.requests) == 2
    assert reply["status"] == "decided"
    assert [attempt["outcome"] for attempt in reply["attempts"]] == ["ok", "ok"]


@pytest.mark.parametrize(
    ("names", "calls"), [(("own",), 1), (("twice", "own"), 2), (("own", "twice"), 2)]
)
async def test_who_was_asked_is_the_hosts_to_say(
    gateway, upstream: ScriptedUpstream, names: tuple[str, ...], calls: int
) -> None:
    reply = await asked(gateway, *names)

    assert len(upstream.requests) == calls
    assert [attempt["provider"] for attempt in reply["attempts"]] == ["up"] * calls


async def test_the_log_says_where_a_middleware_raised(
    gateway, caplog: pytest.LogCaptureFixture
) -> None:
    import acme_middleware

    with caplog.at_level(logging.DEBUG, "s1gw"):
        await asked(gateway, "raise")
    first = acme_middleware.Raise.decide.__code__.co_firstlineno
    assert f"raised ValueError at acme_middleware.py, line {first + 1}" in caplog.text


async def test_a_provider_that_fails_is_a_verdict_not_an_exception(
    gateway, upstream: ScriptedUpstream
) -> None:
    upstream.answer(Reply(status=500))
    reply = await asked(gateway, "audit")

    assert reply["error"]["code"] == "provider_error"
    ((_, status, error),) = trace()
    assert status == "error"
    assert error


@pytest.mark.parametrize(
    ("name", "reason", "attempts"),
    [
        ("raise", "raised ValueError", 0),
        ("raise-after", "raised TimeoutError", 1),
        ("exit", "raised SystemExit", 0),
        ("panic", "raised BaseException", 0),
        ("lose-task", "raised CancelledError", 0),
        ("return-nothing", "did not return an Outcome", 1),
        ("return-verdict", "did not return an Outcome", 1),
        ("proceed-with-text", "raised TypeError", 0),
        ("invent", "decided on something that is not one of the options", 0),
        ("decide-nothing", "decided on something that is not one of the options", 0),
        ("decide-and-abstain", "returned a decision beside a reason or an error", 0),
        ("other-options", "returned probabilities that are not over exactly the options", 1),
    ],
)
async def test_a_failure_ends_the_call_names_its_middleware_and_leaks_nothing(
    gateway, caplog: pytest.LogCaptureFixture, name: str, reason: str, attempts: int
) -> None:
    with caplog.at_level(logging.DEBUG, "s1gw"):
        reply = await asked(gateway, "audit", name, decide="threshold = 0.1")

    message = f"middleware '{name}' {reason}"
    assert reply["error"] == {"code": "provider_error", "message": message}
    assert len(reply["attempts"]) == attempts
    assert trace() == [(ASK["question"], "error", message)]
    assert "secret-word" not in str(reply) + caplog.text


async def test_one_failing_call_leaves_the_next_alone(gateway) -> None:
    async with gateway("raise-after") as opened:
        for _ in range(2):
            assert "raise-after" in (await opened.decide(ASK))["error"]["message"]


@pytest.mark.parametrize(("name", "attempts"), [("wait", 0), ("wait-after", 1)])
async def test_its_time_counts_towards_the_deadline(gateway, name: str, attempts: int) -> None:
    started = perf_counter()
    reply = await asked(gateway, "audit", name, decide="deadline_s = 0.4")

    assert perf_counter() - started < 5
    assert reply["error"]["code"] == "provider_timeout"
    assert reply["error"]["message"] == f"middleware '{name}': not done within 0.4 s"
    assert len(reply["attempts"]) == attempts
    assert ("cancelled" in trace()) == (name == "wait")


async def test_a_chain_that_takes_all_the_time_is_still_told_by_its_attempts(
    gateway, upstream: ScriptedUpstream
) -> None:
    upstream.answer(Raw(hold=True))
    reply = await asked(gateway, "audit", decide="deadline_s = 0.4")

    assert reply["error"]["code"] == "provider_timeout"
    assert [attempt["outcome"] for attempt in reply["attempts"]] == ["timeout"]
    assert trace()[0][1] == "error"


async def test_an_invalid_or_paused_call_meets_no_middleware(gateway, tmp_path) -> None:
    async with gateway("audit") as opened:
        invalid = await opened.decide({"question": ""})
        Pause(tmp_path / "state").start()
        paused = await opened.decide(ASK)

    assert invalid["error"]["code"] == "invalid_request"
    assert paused["reason"] == "paused"
    assert trace() == []


async def test_what_is_redacted_is_not_logged_either(gateway, tmp_path) -> None:
    more = "[decision_log]\nenabled = true\ncontent = true\n"
    reply = await asked(gateway, "redact", more=more)

    assert reply["status"] == "decided"
    text = b"".join(path.read_bytes() for path in (tmp_path / "state").rglob("decisions*"))
    assert b"Is *** urgent?" in text
    assert b"secret-word" not in text
    with closing(sqlite3.connect(tmp_path / "state" / "decisions.sqlite3")) as connection:
        assert connection.execute("select count(*) from decisions").fetchone() == (1,)


@pytest.mark.parametrize(("names", "shadowed"), [(("redact",), 1), (("redact", "refuse"), 0)])
async def test_a_shadow_is_asked_what_the_chain_was_asked_or_not_at_all(
    gateway, upstream: ScriptedUpstream, names: tuple[str, ...], shadowed: int
) -> None:
    with ScriptedUpstream() as beside:
        beside.answer(Reply(status=500))
        more = (
            f"[providers.beside]\ndialect = 'generic-systemone'\nbase_url = '{beside.url}'\n"
            "models = ['m']\n[decision_log]\nenabled = true\nshadow = ['beside']\n"
        )
        await asked(gateway, *names, more=more)
        assert len(beside.requests) == shadowed
        assert all(b"secret-word" not in request.body for request in beside.requests)
