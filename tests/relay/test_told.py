"""What is told of a call: to its caller, and in the record of it."""

import json
from typing import Any

import pytest

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
    "with the key": ({"error": "bad key sk-ACME_TYPESAFE"}, "no message that can be shown"),
    "with the state": (
        {"message": "cannot read: a state that is told"},
        "no message that can be shown",
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
