"""Which headers go upstream, and which come back."""

from typing import Any

import pytest

from gateway_core.testing import Reply

S1 = {"model": "jev-latest", "state": "a state that is told", "questions": {}}


OAI = {"model": "gpt-6-luna", "input": "s", "questions": []}


OK = {"answers": {}}


@pytest.fixture
def config(read_config: Any) -> str:
    return str(read_config("replies"))


RETRY_AFTER = ["0", "-1", "1.5", "287441", "Wed, 21 Oct 2015 07:28:00 GMT", "soon"]


@pytest.mark.anyio
@pytest.mark.parametrize("status", [200, 400, 429, 500, 503, 529])
async def test_what_an_upstream_says_of_retries_and_rates_is_passed_on(
    open_scene: Any, config: str, upstream: Any, status: int
) -> None:
    async with open_scene(config) as scene:
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
async def test_no_other_header_of_an_upstream_is_passed_on(
    open_scene: Any, config: str, upstream: Any
) -> None:
    said = {"set-cookie": "a=b", "server": "x", "openai-organization": "o", "connection": "close"}
    upstream.answer(Reply(body=OK, headers=said))
    async with open_scene(config) as scene:
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
async def test_no_header_with_a_secret_in_it_is_passed_on(
    open_scene: Any, config: str, upstream: Any
) -> None:
    async with open_scene(config) as scene:
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


@pytest.mark.anyio
async def test_the_key_in_a_configured_header_is_known_without_its_scheme(
    open_scene: Any, config: str, upstream: Any
) -> None:
    said = {"x-ratelimit-key": "for sk-EXTRA-of-a-header"}
    async with open_scene(config, secrets={"EXTRA_KEY": "Bearer sk-EXTRA-of-a-header"}) as scene:
        for status in (200, 422):
            body = {"detail": "no such key: sk-EXTRA-of-a-header"}
            upstream.answer(Reply(status=status, body=body, headers=said))
            result = await scene.post(S1, scene.key())
            assert "x-ratelimit-key" not in result.headers
    assert result.status == 422
    assert b"sk-EXTRA" not in result.reply.body


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
    "System One with the client's and the usual one": (
        {**S1, "model": "free"},
        {"x-typesafe-request-id": "up-4", "x-request-id": "up-5"},
        {"x-typesafe-request-id": "up-4", "x-request-id": "req-1"},
    ),
    "OpenAI's": (
        OAI,
        {"x-request-id": "up-3"},
        {"x-request-id": "req-1", "x-s1gw-upstream-request-id": "up-3"},
    ),
    "OpenAI without one": (OAI, {}, {"x-request-id": "req-1"}),
}


@pytest.mark.anyio
@pytest.mark.parametrize("row", IDS.values(), ids=IDS.keys())
@pytest.mark.parametrize("status", [200, 429])
async def test_request_ids_are_those_that_each_client_reads(
    open_scene: Any,
    config: str,
    upstream: Any,
    status: int,
    row: tuple[Any, dict[str, str], dict[str, str]],
) -> None:
    body, given, told = row
    upstream.answer(Reply(status=status, body=OK, headers=given))
    async with open_scene(config) as scene:
        result = await scene.post(body, scene.key())
    found = {name: text for name, text in result.headers.items() if name.endswith("request-id")}
    assert (result.status, found) == (status, {"x-request-id": "req-1", **told})


@pytest.mark.anyio
async def test_nothing_in_a_body_leads_a_call_elsewhere(
    open_scene: Any, config: str, upstream: Any
) -> None:
    said = {
        "base_url": "http://169.254.169.254",
        "api_base": "http://169.254.169.254",
        "api_key": "sk-theirs",
        "headers": {"authorization": "Bearer sk-theirs"},
        "extra_headers": {"host": "else.example"},
        "provider": "openai",
        "stream": True,
    }
    async with open_scene(config) as scene:
        assert (await scene.post({**S1, **said}, scene.key())).status == 200
    received = upstream.requests[0]
    assert received.json() == {**S1, **said}
    assert (received.path, received.headers["host"]) == ("/v1/systemone", "api.typesafe.ai")
    assert received.headers["authorization"] == "Bearer sk-ACME_TYPESAFE"


@pytest.mark.anyio
async def test_only_listed_headers_go_upstream(open_scene: Any, config: str, upstream: Any) -> None:
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
    async with open_scene(config) as scene:
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
