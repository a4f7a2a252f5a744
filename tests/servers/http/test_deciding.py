"""The decide contract over HTTP, and the same tools over MCP."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx
import httpx2
import jsonschema
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from gateway_core.schema import CAPABILITIES, HEALTH, RESPONSE
from gateway_core.testing import Received, Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

QUESTION = {
    "question": "What is this about? never-log-this",
    "options": ["refund request", "bug report"],
    "context": {"text": "I want my money back, never-log-this"},
}
CONFIG = """
[providers.operators]
api_format = "systemone"
base_url = "http://203.0.113.40"
models = ["m"]
[decide]
chain = ["operators"]
[http]
allowed_hosts = ["gateway.example"]
[orgs.acme.providers.own]
api_format = "systemone"
base_url = "http://203.0.113.41"
api_key = { env = "ORG_KEY" }
models = ["acme-model"]
[orgs.acme.providers.off]
api_format = "systemone"
base_url = "http://203.0.113.42"
models = ["off"]
enabled = false
[orgs.globex.providers.other]
api_format = "systemone"
base_url = "http://203.0.113.43"
api_key = { env = "ORG_KEY" }
models = ["globex-model"]
"""


def pick_first(received: Received) -> Reply:
    options = list(received.json()["questions"]["decision"]["criteria"])
    spread = {option: 0.9 if option == options[0] else 0.1 for option in options}
    answer = {"type": "choice", "choice": options[0], "confidence": 0.8, "probabilities": spread}
    model = f"answered by {received.headers['host']}"
    return Reply(body={"model": model, "answers": {"decision": answer}, "usage": {}})


@pytest.fixture(scope="module")
def proxy() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as found:
        found.answer(pick_first)
        yield found


@pytest.fixture(scope="module")
def keys(gateway: GatewayProcess) -> Mapping[str, str]:
    return {
        "acme": gateway.key(org="acme"),
        "globex": gateway.key(org="globex"),
        "barred": gateway.key(org="acme", providers=("off",)),
        "internal": gateway.key(kind="internal"),
        "managed": gateway.key(kind="managed", org="acme"),
    }


@pytest.fixture
def client(gateway: GatewayProcess, keys: Mapping[str, str]) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {keys['acme']}"}
    with httpx.Client(base_url=gateway.url, headers=headers, timeout=60) as found:
        yield found


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def test_a_question_is_decided_by_the_organizations_own_provider(client: httpx.Client) -> None:
    found = client.post("/v1/decide", json=QUESTION).json()
    jsonschema.validate(found, RESPONSE)
    assert (found["status"], found["decision"]) == ("decided", "refund request")
    assert (found["provider"], found["model"]) == ("own", "answered by 203.0.113.41")


def test_another_organization_is_answered_by_its_own(
    client: httpx.Client, keys: Mapping[str, str]
) -> None:
    found = client.post("/v1/decide", json=QUESTION, headers=bearer(keys["globex"])).json()
    assert found["provider"] == "other"


def test_a_key_for_other_providers_decides_nothing(
    client: httpx.Client, keys: Mapping[str, str]
) -> None:
    found = client.post("/v1/decide", json=QUESTION, headers=bearer(keys["barred"]))
    assert (found.status_code, found.json()["error"]["code"]) == (503, "config_error")


@pytest.mark.parametrize("path", ["decide", "health", "capabilities"])
@pytest.mark.parametrize(
    ("who", "told"),
    [
        ("nobody", (401, "invalid_api_key")),
        ("internal", (403, "byok_required")),
        ("managed", (403, "byok_required")),
    ],
)
def test_only_organizations_may_ask(
    client: httpx.Client, keys: Mapping[str, str], path: str, who: str, told: tuple[int, str]
) -> None:
    method = "POST" if path == "decide" else "GET"
    headers = bearer(keys.get(who, "never-log-this"))
    found = client.request(method, f"/v1/{path}", headers=headers)
    assert (found.status_code, found.json()["error"]["code"]) == told


def test_an_internal_caller_has_no_providers_to_ask(
    client: httpx.Client, keys: Mapping[str, str]
) -> None:
    headers = {**bearer(keys["internal"]), "x-s1gw-provider-key": "never-log-this"}
    found = client.post("/v1/decide", json=QUESTION, headers=headers)
    assert (found.status_code, found.json()["error"]["code"]) == (403, "permission_denied")


INVALID = {
    "no JSON": b"never-log-this",
    "nothing": b"",
    "an array": b"[]",
    "no question": b"{}",
    "a key twice": b'{"question": "a", "question": "b"}',
    "a key twice inside": b'{"question": "a", "context": {"b": 1, "b": 2}}',
    "not a number": b'{"question": "a", "min_confidence": NaN}',
    "unknown field": b'{"question": "a", "more": 1}',
    "not UTF-8": b'{"question": "\xff"}',
    "deep": b'{"question": ' + b"[" * 100_000,
    "deep and whole": b'{"question": "a", "context": {"b": %s}}' % (b"[" * 200 + b"]" * 200),
    "UTF-8 with a byte order mark": b'\xef\xbb\xbf{"question": "a"}',
    "UTF-16": '{"question": "a"}'.encode("utf-16"),
    "UTF-16 without a mark": '{"question": "a"}'.encode("utf-16-le"),
    "UTF-16, big end first": '{"question": "a"}'.encode("utf-16-be"),
    "UTF-32": '{"question": "a"}'.encode("utf-32-le"),
}


@pytest.mark.parametrize("body", INVALID.values(), ids=INVALID.keys())
def test_an_invalid_request_is_told_in_the_reply(
    client: httpx.Client, proxy: ScriptedUpstream, body: bytes
) -> None:
    asked = len(proxy.requests)
    found = client.post("/v1/decide", content=body)
    jsonschema.validate(found.json(), RESPONSE)
    assert (found.status_code, found.json()["error"]["code"]) == (400, "invalid_request")
    assert len(proxy.requests) == asked


def test_the_key_that_occurs_twice_is_named(client: httpx.Client) -> None:
    found = client.post("/v1/decide", content=b'{"min": 1, "question": "a", "question": "b"}')
    assert "'question' occurs twice" in found.json()["error"]["message"]


def test_the_requests_id_serves_for_both_unless_the_body_has_its_own(client: httpx.Client) -> None:
    headers = {"x-request-id": "from-the-header"}
    for own, told in (({}, "from-the-header"), ({"request_id": "my own"}, "my own")):
        found = client.post("/v1/decide", json={**QUESTION, **own}, headers=headers)
        assert found.json()["request_id"] == told
        assert found.headers["x-request-id"] == told


@pytest.mark.parametrize(
    ("reply", "status", "code"),
    [
        (Reply(status=500), 502, "provider_error"),
        (Reply(status=504), 504, "provider_timeout"),
        (Reply(body=b"[]"), 502, "malformed_response"),
    ],
)
def test_the_status_fits_the_error(
    client: httpx.Client, proxy: ScriptedUpstream, reply: Reply, status: int, code: str
) -> None:
    proxy.queue(reply)
    found = client.post("/v1/decide", json=QUESTION)
    assert (found.status_code, found.json()["error"]["code"]) == (status, code)


def test_health_is_that_of_the_organizations_providers(client: httpx.Client) -> None:
    found = client.get("/v1/health").json()
    jsonschema.validate(found, HEALTH)
    assert [provider["name"] for provider in found["providers"]] == ["own"]
    assert found["config_file"] is None


def test_capabilities_show_nothing_of_the_operators(client: httpx.Client) -> None:
    found = client.get("/v1/capabilities").json()
    jsonschema.validate(found, CAPABILITIES)
    assert found["chain"] == ["own"]
    assert "operators" not in json.dumps(found)


def message(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


ACCEPT = {"accept": "application/json, text/event-stream"}


@pytest.mark.anyio
async def test_the_tools_are_served_over_mcp(
    gateway: GatewayProcess, keys: Mapping[str, str]
) -> None:
    async def decide(org: str) -> Any:
        transport = httpx2.AsyncClient(headers=bearer(keys[org]), timeout=60)
        async with (
            transport,
            Client(streamable_http_client(f"{gateway.url}/mcp", http_client=transport)) as session,
        ):
            tools = (await session.list_tools()).tools
            assert {tool.name for tool in tools} >= {"system1_decide", "system1_health"}
            found = await session.call_tool("system1_decide", QUESTION)
            return found.structured_content

    found = await asyncio.gather(*(decide(org) for org in ("acme", "globex", "acme")))
    assert [reply["provider"] for reply in found] == ["own", "other", "own"]


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"authorization": "Bearer never-log-this"}, 401, "invalid_api_key"),
        ({"host": "evil.example"}, 421, "host_not_allowed"),
        ({"origin": "http://evil.example"}, 403, "origin_not_allowed"),
        ({"content-type": "text/plain"}, 400, "invalid_request"),
        ({"content-encoding": "br"}, 415, "unsupported_content_encoding"),
    ],
)
def test_mcp_is_guarded(
    client: httpx.Client, headers: Mapping[str, str], status: int, code: str
) -> None:
    found = client.post("/mcp", json=message("tools/list"), headers={**ACCEPT, **headers})
    assert (found.status_code, found.json()["error"]["code"]) == (status, code)


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "gateway.example"},
        {"host": "gateway.example:8080", "origin": "https://gateway.example"},
        {"host": "localhost:1234", "origin": "http://127.0.0.1:3000"},
    ],
)
def test_mcp_takes_the_hosts_it_is_told_to(
    client: httpx.Client, headers: Mapping[str, str]
) -> None:
    found = client.post("/mcp", json=message("tools/list"), headers={**ACCEPT, **headers})
    assert found.status_code == 200
    assert found.json()["result"]["tools"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_mcp_has_no_streams_and_no_sessions(client: httpx.Client, method: str) -> None:
    found = client.request(method, "/mcp", headers=ACCEPT)
    assert (found.status_code, found.headers["allow"]) == (405, "OPTIONS, POST")


@pytest.mark.parametrize(("field", "allowed"), [("models", "acme-model"), ("providers", "own")])
@pytest.mark.parametrize("first", ["wide", "narrow"])
def test_keys_of_one_organization_are_kept_apart_by_what_they_may_use(
    gateway: GatewayProcess, field: str, allowed: str, first: str
) -> None:
    # Lists of their own, lest an earlier test have asked with one like them.
    keys = {
        "wide": gateway.key(org="acme", **{field: (allowed, f"unused-{first}")}),
        "narrow": gateway.key(org="acme", **{field: ("nothing", f"unused-{first}")}),
    }
    for name in sorted(keys, key=lambda name: name != first):
        headers = {"authorization": f"Bearer {keys[name]}"}
        found = httpx.post(f"{gateway.url}/v1/decide", json=QUESTION, headers=headers, timeout=30)
        told = found.json()
        assert (told["provider"], told["status"]) == (
            ("own", "decided") if name == "wide" else (None, "error")
        )


LINES = """
[log]
format = "json"
"""


def lines_of(gateway: GatewayProcess, request_id: str) -> list[str]:
    """Return the loggers of the lines that carry an id."""
    lines = (json.loads(line) for line in gateway.log.splitlines() if line.startswith("{"))
    return [line["logger"] for line in lines if line["request_id"] == request_id]


@pytest.mark.parametrize(
    ("headers", "own", "told"),
    [
        ({}, {"request_id": "order-4711"}, "order-4711"),
        ({"x-request-id": "head-4712"}, {}, "head-4712"),
        ({"x-request-id": "head-4713"}, {"request_id": "body-4713"}, "body-4713"),
        ({}, {"request_id": "schr\u00f6dinger 1"}, "schr%C3%B6dinger%201"),
        ({}, {"request_id": "two\nlines"}, "two\\nlines"),
        ({}, {}, None),
    ],
)
def test_a_call_has_one_id_in_its_reply_and_in_every_line(
    start: Callable[..., GatewayProcess],
    proxy: ScriptedUpstream,
    headers: dict[str, str],
    own: dict[str, str],
    told: str | None,
) -> None:
    env = {"HTTP_PROXY": proxy.url, "ORG_KEY": "never-log-this-key"}
    gateway = start(LINES + CONFIG, env=env)
    bearer = {"authorization": f"Bearer {gateway.key(org='acme')}"}
    found = httpx.post(
        f"{gateway.url}/v1/decide", json={**QUESTION, **own}, headers=bearer | headers, timeout=30
    )
    gateway.stop()
    in_body, in_head = found.json()["request_id"], found.headers["x-request-id"]
    assert in_head == (told or in_body)
    assert in_body == own.get("request_id", in_head)
    in_lines = in_body.replace("\n", "\\n")
    assert {"s1gw.decide", "s1gw.access"} <= set(lines_of(gateway, in_lines))
