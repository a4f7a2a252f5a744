"""What is told of a call: to its caller, and in the record of it."""

import json
from typing import Any

import pytest

from gateway_core.causes import Cause
from gateway_core.relay.route import RelayRoute
from gateway_core.testing import Reply

S1 = {"model": "jev-latest", "state": "a state that is told", "questions": {}}


@pytest.fixture
def config(read_config: Any) -> str:
    return str(read_config("replies"))


MESSAGES: dict[str, tuple[Any, str]] = {
    "plain": ({"detail": "criteria must\x00 be a list"}, "criteria must be a list"),
    "short and in the state": ({"error": {"message": "1 is not true"}}, "1 is not true"),
    "long": ({"error": "word " * 400}, "word word"),
    "with the key": ({"error": "bad key sk-ACME_TYPESAFE"}, "bad key […]"),
    "with the state": (
        {"message": "cannot read: a state that is told"},
        "cannot read: […]",
    ),
    "none": ({}, "no message that can be shown"),
}


@pytest.mark.anyio
@pytest.mark.parametrize(("said", "shown"), MESSAGES.values(), ids=MESSAGES.keys())
async def test_an_upstreams_message_is_shown_without_secrets_or_content(
    open_scene: Any, config: str, upstream: Any, said: Any, shown: str
) -> None:
    upstream.answer(Reply(status=422, body=said))
    async with open_scene(config) as scene:
        result = await scene.post({**S1, "n": [1, True]}, scene.key(), route=RelayRoute.SYSTEMONE)
    message = result.json()["error"]["message"]
    assert shown in message
    assert "a state that" not in message
    assert "sk-" not in message
    assert len(message) < 600
    assert message.isprintable()


@pytest.mark.anyio
async def test_what_else_an_upstream_says_is_not_shown(
    open_scene: Any, config: str, upstream: Any
) -> None:
    async with open_scene(config) as scene:
        for status in (401, 402, 404, 413, 429, 500, 503):
            upstream.answer(Reply(status=status, body={"detail": "Incorrect key sk-AC***FE"}))
            result = await scene.post(S1, scene.key())
            assert "Incorrect" not in result.reply.body.decode()


@pytest.mark.anyio
async def test_all_that_is_known_of_a_call_is_noted(
    open_scene: Any, config: str, upstream: Any
) -> None:
    upstream.answer(Reply(body={"answers": {}, "usage": {"input_tokens": 3, "output_tokens": 1}}))
    async with open_scene(config) as scene:
        body = {**S1, "model": "TypeSafe/jev-latest"}
        result = await scene.post(body, scene.key())
    record = result.record
    assert (record.org, record.provider, record.dialect) == ("acme", "typesafe", "typesafe")
    assert (record.model, record.sent_model) == ("TypeSafe/jev-latest", "jev-latest")
    assert (record.code, record.upstream_status) == (None, 200)
    assert record.bytes_in == len(json.dumps(body))
    assert record.upstream_ms is not None
    assert record.upstream_ms > 0
    assert "a state that is told" not in repr(record)
    assert record.key
    assert "s1gw_" not in record.key


@pytest.mark.anyio
async def test_a_model_of_any_characters_can_be_noted(open_scene: Any, config: str) -> None:
    async with open_scene(config) as scene:
        body = b'{"model":"\\ud800' + b"x" * 5000 + b'","questions":{}}'
        record = (await scene.post(body, scene.key())).record
    assert record.model is not None
    assert record.model.encode() == b"?" + b"x" * 199


@pytest.mark.anyio
async def test_openais_own_code_and_field_are_kept_where_they_are_known(
    open_scene: Any, config: str, upstream: Any
) -> None:
    long = {"message": "too long", "code": "string_above_max_length", "param": "questions[0].name"}
    odd = {"message": "too long", "code": "acme_4711_internal", "param": "4111111111111111"}
    asked = {"model": "gpt-6-luna", "input": "s", "questions": [{"type": "predicate", "name": "q"}]}
    async with open_scene(config) as scene:
        for said, code, param in (
            (long, "string_above_max_length", "questions[0].name"),
            (odd, "upstream_rejected", None),
        ):
            upstream.answer(Reply(status=400, body={"error": said}))
            result = await scene.post(asked, scene.key(), route=RelayRoute.DECISIONS)
            error = result.json()["error"]
            assert (error["code"], error["param"]) == (code, param)
            assert result.record.code == "upstream_rejected"


CAUSES: dict[str, tuple[Reply, Cause, int]] = {
    "a page": (Reply(body="<html>"), Cause.NOT_JSON, 200),
    "an array": (Reply(body=[]), Cause.NOT_AN_OBJECT, 200),
    "bad UTF-8": (Reply(body=b'{"a":"\xff"}'), Cause.NOT_UTF8, 200),
    "a redirect": (Reply(status=302), Cause.REDIRECT, 302),
    "a refusal": (Reply(status=422, body={}), Cause.STATUS, 422),
    "an encoding": (
        Reply(body=b"{}", headers={"content-encoding": "br"}),
        Cause.UNKNOWN_ENCODING,
        200,
    ),
}


@pytest.mark.anyio
@pytest.mark.parametrize("failed", CAUSES.values(), ids=CAUSES.keys())
async def test_the_cause_of_a_failure_is_noted_with_the_upstreams_status(
    open_scene: Any, config: str, upstream: Any, failed: tuple[Reply, Cause, int]
) -> None:
    answer, cause, status = failed
    upstream.answer(answer)
    async with open_scene(config) as scene:
        result = await scene.post(S1, scene.key())
    assert (result.record.cause, result.record.upstream_status) == (cause, status)
    assert cause not in result.reply.body.decode()


@pytest.mark.anyio
async def test_a_reply_header_whose_name_holds_a_secret_is_left_out(
    open_scene: Any, config: str, upstream: Any
) -> None:
    headers = {"x-ratelimit-sk-acme_typesafe": "1", "x-ratelimit-limit": "2"}
    upstream.answer(Reply(body={}, headers=headers))
    async with open_scene(config) as scene:
        result = await scene.post(S1, scene.key())
    assert result.headers["x-ratelimit-limit"] == "2"
    assert "sk-acme" not in repr(result.reply.headers).lower()
