"""What an upstream answers, and what the caller gets of it."""

import asyncio
import json
from typing import Any

import pytest

from gateway_core.relay.call import Route
from gateway_core.testing import Gate, Raw, Reply

S1 = {"model": "jev-latest", "state": "a state that is told", "questions": {}}
OAI = {"model": "gpt-6-luna", "input": "s", "questions": []}
CONFIG = """
[http]
timeout_s = 30

[orgs.acme.providers.typesafe]
api_format = "systemone"
base_url = "http://api.typesafe.ai"
api_key = { env = "ACME_TYPESAFE" }
models = ["jev-latest"]
headers = { x-tenant = "plain", x-extra-key = { env = "EXTRA_KEY" } }

[orgs.acme.providers.openai]
api_format = "openai"
base_url = "http://api.openai.com"
api_key = { env = "ACME_OPENAI" }
models = ["gpt-6-luna"]

[orgs.acme.providers.keyless]
api_format = "systemone"
base_url = "http://keyless.example"
models = ["free"]

[orgs.acme.providers.slow]
api_format = "systemone"
base_url = "http://slow.example"
models = ["slow"]
timeout_s = 0.2

[orgs.acme.providers.busy]
api_format = "systemone"
base_url = "http://busy.example"
models = ["busy"]
max_concurrency = 1
"""
OK = {"answers": {}}

STATUSES: dict[str, tuple[Any, tuple[int, str]]] = {
    "300": (Reply(status=300), (502, "upstream_error")),
    "301": (Reply(status=301, headers={"location": "/elsewhere"}), (502, "upstream_error")),
    "307": (Reply(status=307, headers={"location": "/elsewhere"}), (502, "upstream_error")),
    "400": (Reply(status=400, body={"detail": "bad"}), (400, "upstream_rejected")),
    "422": (Reply(status=422, body={"detail": "bad"}), (422, "upstream_rejected")),
    "401": (Reply(status=401), (403, "provider_key_rejected")),
    "403": (Reply(status=403), (403, "provider_key_rejected")),
    "402": (Reply(status=402), (402, "provider_payment_required")),
    "404": (Reply(status=404), (404, "model_not_found")),
    "408": (Reply(status=408), (504, "gateway_timeout")),
    "504": (Reply(status=504, body="<html>"), (504, "gateway_timeout")),
    "413": (Reply(status=413), (413, "request_too_large")),
    "429": (Reply(status=429), (429, "rate_limit_exceeded")),
    "503": (Reply(status=503), (503, "provider_overloaded")),
    "529": (Reply(status=529), (503, "provider_overloaded")),
    "405": (Reply(status=405), (502, "upstream_error")),
    "409": (Reply(status=409), (502, "upstream_error")),
    "415": (Reply(status=415), (502, "upstream_error")),
    "500": (Reply(status=500, body={"detail": "boom"}), (502, "upstream_error")),
    "501": (Reply(status=501), (502, "upstream_error")),
    "502": (Reply(status=502), (502, "upstream_error")),
    "524": (Reply(status=524), (502, "upstream_error")),
    "an array": (Reply(body=[]), (502, "upstream_invalid_response")),
    "a string": (Reply(body=b'"x"'), (502, "upstream_invalid_response")),
    "HTML": (Reply(body="<html></html>"), (502, "upstream_invalid_response")),
    "nothing": (Reply(body=b""), (502, "upstream_invalid_response")),
    "204": (Reply(status=204), (502, "upstream_invalid_response")),
    "half an object": (Reply(body=b'{"answers": {'), (502, "upstream_invalid_response")),
    "two objects": (Reply(body=b"{}{}"), (502, "upstream_invalid_response")),
    "bad UTF-8": (Reply(body=b'{"a":"\xff"}'), (502, "upstream_invalid_response")),
    "deep nesting": (
        Reply(body=b'{"a":' + b"[" * 100_000),
        (502, "upstream_invalid_response"),
    ),
    "too large": (
        Reply(body=b'{"a":"' + b"x" * (10 * 2**20) + b'"}'),
        (502, "upstream_invalid_response"),
    ),
    "not what its encoding says": (
        Reply(body=b"{}", headers={"content-encoding": "gzip"}),
        (502, "upstream_invalid_response"),
    ),
    "no HTTP": (Raw(data=b"SSH-2.0-x\r\n\r\n"), (502, "upstream_invalid_response")),
    "a broken connection": (Raw(data=b""), (502, "upstream_error")),
}


@pytest.mark.anyio
@pytest.mark.parametrize(("answer", "told"), STATUSES.values(), ids=STATUSES.keys())
async def test_every_reply_of_an_upstream_has_its_meaning_after_one_attempt(
    open_scene: Any, upstream: Any, answer: Any, told: tuple[int, str]
) -> None:
    upstream.answer(answer)
    async with open_scene(CONFIG) as scene:
        result = await scene.post(S1, scene.key())
    assert result.told == told
    assert len(upstream.requests) == 1
    assert result.headers["x-s1gw-provider"] == "typesafe"
    if isinstance(answer, Reply):
        assert result.record.upstream_status in (answer.status, None)


@pytest.mark.anyio
@pytest.mark.parametrize("status", [200, 201, 202, 299])
async def test_a_json_object_comes_back_byte_for_byte(
    open_scene: Any, upstream: Any, status: int
) -> None:
    body = b' {"a":1E400, "a":"\\ud800", "\\ud800": 18446744073709551616,\r\n"usage":{} }\n'
    upstream.answer(
        Reply(status=status, body=body, headers={"content-type": "application/vnd.x+json; a=b"})
    )
    async with open_scene(CONFIG) as scene:
        result = await scene.post(S1, scene.key())
    assert (result.status, result.reply.body) == (200, body)
    assert result.headers["content-type"] == "application/vnd.x+json; a=b"


@pytest.mark.anyio
async def test_a_reply_of_10_mib_still_fits(open_scene: Any, upstream: Any) -> None:
    body = b'{"a":"' + b"x" * (10 * 2**20 - 8) + b'"}'
    upstream.answer(Reply(body=body))
    async with open_scene(CONFIG) as scene:
        assert (await scene.post(S1, scene.key())).reply.body == body


USAGES: dict[str, tuple[Any, tuple[int | None, int | None]]] = {
    "both": ({"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}, (5, 2)),
    "one": ({"input_tokens": 5}, (5, None)),
    "null": (None, (None, None)),
    "of another kind": ({"input_tokens": "5"}, (None, None)),
    "a list": ([], (None, None)),
}


@pytest.mark.anyio
@pytest.mark.parametrize(("usage", "counted"), USAGES.values(), ids=USAGES.keys())
async def test_usage_is_read_and_never_a_reason_to_fail(
    open_scene: Any, upstream: Any, usage: Any, counted: tuple[int | None, int | None]
) -> None:
    upstream.answer(Reply(body={"answers": {}, "usage": usage}))
    async with open_scene(CONFIG) as scene:
        result = await scene.post(S1, scene.key())
    assert result.status == 200
    assert (result.record.input_tokens, result.record.output_tokens) == counted


@pytest.mark.anyio
async def test_our_own_time_limit_is_a_gateway_timeout(open_scene: Any, upstream: Any) -> None:
    gate = Gate()
    upstream.answer(Reply(body=OK, gate=gate))
    async with open_scene(CONFIG) as scene:
        assert (await scene.post({**S1, "model": "slow"}, scene.key())).told == (
            504,
            "gateway_timeout",
        )
    gate.open()


@pytest.mark.anyio
async def test_a_provider_at_its_bound_is_overloaded_and_says_when(
    open_scene: Any, upstream: Any
) -> None:
    gate = Gate()
    upstream.answer(Reply(body=OK, gate=gate))
    body = {**S1, "model": "busy"}
    async with open_scene(CONFIG) as scene:
        key = scene.key()
        first = asyncio.create_task(scene.post(body, key))
        await upstream.received()
        result = await scene.post(body, key)
        gate.open()
        assert (await first).status == 200
        assert (await scene.post(body, key)).status == 200
    assert result.told == (503, "provider_overloaded")
    assert result.headers["retry-after"] == "1"


RETRY_AFTER = ["0", "-1", "1.5", "287441", "Wed, 21 Oct 2015 07:28:00 GMT", "soon"]


@pytest.mark.anyio
@pytest.mark.parametrize("status", [200, 400, 429, 500, 503, 529])
async def test_what_an_upstream_says_of_retries_and_rates_is_passed_on(
    open_scene: Any, upstream: Any, status: int
) -> None:
    async with open_scene(CONFIG) as scene:
        key = scene.key()
        for text in RETRY_AFTER:
            said = {
                "retry-after": text,
                "retry-after-ms": "1200",
                "x-should-retry": "false",
                "x-ratelimit-remaining-tokens": "7",
            }
            upstream.answer(Reply(status=status, body=OK, headers=said))
            result = await scene.post(S1, key)
            assert said.items() <= result.headers.items()


@pytest.mark.anyio
async def test_no_other_header_of_an_upstream_is_passed_on(open_scene: Any, upstream: Any) -> None:
    said = {"set-cookie": "a=b", "server": "x", "openai-organization": "o", "connection": "close"}
    upstream.answer(Reply(body=OK, headers=said))
    async with open_scene(CONFIG) as scene:
        result = await scene.post(S1, scene.key())
    assert set(result.headers) == {
        "content-type",
        "x-request-id",
        "x-typesafe-request-id",
        "x-s1gw-provider",
        "x-s1gw-model",
        "x-s1gw-latency-ms",
    }
    assert float(result.headers["x-s1gw-latency-ms"]) > 0


@pytest.mark.anyio
async def test_no_header_with_a_secret_in_it_is_passed_on(open_scene: Any, upstream: Any) -> None:
    async with open_scene(CONFIG) as scene:
        for status in (200, 429):
            said = {
                "x-ratelimit-key": "key sk-ACME_TYPESAFE",
                "x-ratelimit-extra": "sk-EXTRA_KEY",
                "x-typesafe-request-id": "sk-ACME_TYPESAFE",
                "x-ratelimit-plain": "plain",
                "retry-after": "3",
            }
            upstream.answer(Reply(status=status, body=OK, headers=said))
            headers = (await scene.post(S1, scene.key())).headers
            assert not any("sk-" in text for text in headers.values())
            assert headers["retry-after"] == "3"
            assert headers["x-ratelimit-plain"] == "plain"


IDS: dict[str, tuple[dict[str, Any], dict[str, str], dict[str, str]]] = {
    "TypeSafe's own": (
        S1,
        {"x-typesafe-request-id": "up-1"},
        {"x-typesafe-request-id": "up-1", "x-request-id": "req-1"},
    ),
    "System One without one": (S1, {}, {"x-typesafe-request-id": "req-1"}),
    "System One with the usual one": (
        {**S1, "model": "free"},
        {"x-request-id": "up-2"},
        {"x-typesafe-request-id": "up-2", "x-request-id": "req-1"},
    ),
    "OpenAI's": (OAI, {"x-request-id": "up-3"}, {"x-request-id": "req-1"}),
}


@pytest.mark.anyio
@pytest.mark.parametrize(("body", "given", "told"), IDS.values(), ids=IDS.keys())
async def test_request_ids_are_those_that_each_client_reads(
    open_scene: Any, upstream: Any, body: Any, given: dict[str, str], told: dict[str, str]
) -> None:
    upstream.answer(Reply(body=OK, headers=given))
    async with open_scene(CONFIG) as scene:
        result = await scene.post(body, scene.key())
    assert told.items() <= result.headers.items()
    assert ("x-typesafe-request-id" in result.headers) == (body is not OAI)


@pytest.mark.anyio
async def test_only_listed_headers_go_upstream(open_scene: Any, upstream: Any) -> None:
    sent = {
        "user-agent": "typesafe-sdk/0.7.5",
        "typesafe-danger-zone-images": "true",
        "x-api-key": "s1gw_else",
        "cookie": "a=b",
        "x-forwarded-for": "192.0.2.7",
        "accept": "text/event-stream",
        "content-encoding": "identity",
        "x-s1gw-model": "x",
        "proxy-authorization": "Basic x",
        "connection": "x-tenant",
    }
    async with open_scene(CONFIG) as scene:
        assert (await scene.post(S1, scene.key(), headers=sent)).status == 200
        assert (await scene.post({**S1, "model": "free"}, scene.key(), headers=sent)).status == 200
    typesafe, keyless = (request.headers for request in upstream.requests)
    assert set(typesafe) == {
        "host",
        "content-length",
        "content-type",
        "accept",
        "accept-encoding",
        "authorization",
        "user-agent",
        "x-request-id",
        "typesafe-danger-zone-images",
        "x-tenant",
        "x-extra-key",
    }
    assert typesafe["authorization"] == "Bearer sk-ACME_TYPESAFE"
    assert typesafe["user-agent"].startswith("s1gw/")
    assert typesafe["accept"] == "application/json"
    assert typesafe["x-request-id"] == "req-1"
    assert typesafe["x-extra-key"] == "sk-EXTRA_KEY"
    assert "authorization" not in keyless
    assert "typesafe-danger-zone-images" not in keyless


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
    open_scene: Any, upstream: Any, said: Any, shown: str
) -> None:
    upstream.answer(Reply(status=422, body=said))
    async with open_scene(CONFIG) as scene:
        result = await scene.post({**S1, "n": [1, True]}, scene.key(), route=Route.SYSTEMONE)
    message = result.json()["error"]["message"]
    assert shown in message
    assert "a state that" not in message
    assert "sk-" not in message
    assert len(message) < 600
    assert message.isprintable()


@pytest.mark.anyio
async def test_what_else_an_upstream_says_is_not_shown(open_scene: Any, upstream: Any) -> None:
    async with open_scene(CONFIG) as scene:
        for status in (401, 402, 404, 413, 429, 500, 503):
            upstream.answer(Reply(status=status, body={"detail": "Incorrect key sk-AC***FE"}))
            result = await scene.post(S1, scene.key())
            assert "Incorrect" not in result.reply.body.decode()


@pytest.mark.anyio
async def test_all_that_is_known_of_a_call_is_noted(open_scene: Any, upstream: Any) -> None:
    upstream.answer(Reply(body={"answers": {}, "usage": {"input_tokens": 3, "output_tokens": 1}}))
    async with open_scene(CONFIG) as scene:
        body = {**S1, "model": "TypeSafe/jev-latest"}
        result = await scene.post(body, scene.key())
    record = result.record
    assert (record.org, record.provider, record.dialect) == ("acme", "typesafe", "typesafe")
    assert (record.model, record.sent_model) == ("TypeSafe/jev-latest", "jev-latest")
    assert (record.status, record.code, record.upstream_status) == (200, None, 200)
    assert record.bytes_in == len(json.dumps(body))
    assert record.bytes_out == len(result.reply.body)
    assert record.upstream_ms is not None
    assert record.upstream_ms > 0
    assert "a state that is told" not in repr(record)
    assert record.key
    assert "s1gw_" not in record.key


@pytest.mark.anyio
async def test_a_model_of_any_characters_can_be_noted(open_scene: Any) -> None:
    async with open_scene(CONFIG) as scene:
        body = b'{"model":"\\ud800' + b"x" * 5000 + b'","questions":{}}'
        record = (await scene.post(body, scene.key())).record
    assert record.model is not None
    assert record.model.encode() == b"?" + b"x" * 199


@pytest.mark.anyio
async def test_a_caller_who_leaves_frees_what_it_held(open_scene: Any, upstream: Any) -> None:
    gate = Gate()
    upstream.answer(Reply(body=OK, gate=gate))
    async with open_scene(CONFIG) as scene:
        key = scene.key(concurrency=1)
        call = asyncio.create_task(scene.post({**S1, "model": "busy"}, key))
        await upstream.received()
        assert (await scene.post(S1, key)).told == (429, "rate_limit_exceeded")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await upstream.disconnected()
        gate.open()
        assert (await scene.post({**S1, "model": "busy"}, key)).status == 200
