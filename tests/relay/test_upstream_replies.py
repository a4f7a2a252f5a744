"""What an upstream answers, and what the caller gets of it after one attempt."""

import asyncio
from typing import Any

import pytest

from gateway_core.testing import Gate, Raw, Reply

S1 = {"model": "jev-latest", "state": "a state that is told", "questions": {}}


OK = {"answers": {}}


@pytest.fixture
def config(read_config: Any) -> str:
    return str(read_config("replies"))


STATUSES: dict[str, tuple[Any, tuple[int, str]]] = {
    "300": (Reply(status=300), (502, "upstream_error")),
    "301": (Reply(status=301, headers={"location": "/elsewhere"}), (502, "upstream_error")),
    "307": (Reply(status=307, headers={"location": "/elsewhere"}), (502, "upstream_error")),
    "400": (Reply(status=400, body={"detail": "bad"}), (400, "upstream_rejected")),
    "422": (Reply(status=422, body={"detail": "bad"}), (422, "upstream_rejected")),
    "401": (Reply(status=401), (403, "provider_key_rejected")),
    "403": (Reply(status=403), (403, "provider_key_rejected")),
    "a vendor's own 403 for no key": (
        Reply(status=403, body={"detail": {"error_type": "authentication_error", "message": "no"}}),
        (403, "provider_key_rejected"),
    ),
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
    open_scene: Any, config: str, upstream: Any, answer: Any, told: tuple[int, str]
) -> None:
    upstream.answer(answer)
    async with open_scene(config) as scene:
        result = await scene.post(S1, scene.key())
    assert result.told == told
    assert len(upstream.requests) == 1
    assert result.headers["x-s1gw-provider"] == "typesafe"
    if isinstance(answer, Reply):
        assert result.record.upstream_status in (answer.status, None)


@pytest.mark.anyio
@pytest.mark.parametrize("status", [200, 201, 202, 299])
async def test_a_json_object_comes_back_byte_for_byte(
    open_scene: Any, config: str, upstream: Any, status: int
) -> None:
    body = b' {"a":1E400, "a":"\\ud800", "\\ud800": 18446744073709551616,\r\n"usage":{} }\n'
    upstream.answer(
        Reply(status=status, body=body, headers={"content-type": "application/vnd.x+json; a=b"})
    )
    async with open_scene(config) as scene:
        result = await scene.post(S1, scene.key())
    assert (result.status, result.reply.body) == (200, body)
    assert result.headers["content-type"] == "application/vnd.x+json; a=b"


@pytest.mark.anyio
async def test_a_reply_of_10_mib_still_fits(open_scene: Any, config: str, upstream: Any) -> None:
    body = b'{"a":"' + b"x" * (10 * 2**20 - 8) + b'"}'
    upstream.answer(Reply(body=body))
    async with open_scene(config) as scene:
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
    open_scene: Any, config: str, upstream: Any, usage: Any, counted: tuple[int | None, int | None]
) -> None:
    upstream.answer(Reply(body={"answers": {}, "usage": usage}))
    async with open_scene(config) as scene:
        result = await scene.post(S1, scene.key())
    assert result.status == 200
    assert (result.record.input_tokens, result.record.output_tokens) == counted


@pytest.mark.anyio
async def test_our_own_time_limit_is_a_gateway_timeout(
    open_scene: Any, config: str, upstream: Any
) -> None:
    gate = Gate()
    upstream.answer(Reply(body=OK, gate=gate))
    async with open_scene(config) as scene:
        assert (await scene.post({**S1, "model": "slow"}, scene.key())).told == (
            504,
            "gateway_timeout",
        )
    gate.open()


@pytest.mark.anyio
async def test_a_provider_at_its_bound_is_overloaded_and_says_when(
    open_scene: Any, config: str, upstream: Any
) -> None:
    gate = Gate()
    upstream.answer(Reply(body=OK, gate=gate))
    body = {**S1, "model": "busy"}
    async with open_scene(config) as scene:
        key = scene.key()
        first = asyncio.create_task(scene.post(body, key))
        await upstream.received()
        result = await scene.post(body, key)
        gate.open()
        assert (await first).status == 200
        assert (await scene.post(body, key)).status == 200
    assert result.told == (503, "provider_overloaded")
    assert result.headers["retry-after"] == "1"


@pytest.mark.anyio
async def test_a_caller_who_leaves_frees_what_it_held(
    open_scene: Any, config: str, upstream: Any
) -> None:
    gate = Gate()
    upstream.answer(Reply(body=OK, gate=gate))
    async with open_scene(config) as scene:
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
