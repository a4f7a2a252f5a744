"""Which paths are routes, and what those are told whose path is none."""

import gzip
from collections.abc import Callable, Iterator

import httpx
import pytest

from gateway_core.testing import Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

LIMIT = 40_000
CONFIG = f"""
[http]
max_body_bytes = {LIMIT}
[providers.fake]
api_format = "systemone"
base_url = "%s"
models = ["m"]
"""
BODY = {"model": "m", "state": "s", "questions": {"q": {"type": "noul"}}}


@pytest.fixture(scope="module")
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as found:
        found.answer(Reply(body={"model": "m", "answers": {}, "usage": {}}))
        yield found


@pytest.fixture(scope="module")
def client(
    start_once: Callable[..., GatewayProcess], upstream: ScriptedUpstream
) -> Iterator[httpx.Client]:
    gateway = start_once(CONFIG % upstream.url, "--auth", "disabled")
    with httpx.Client(base_url=gateway.url, timeout=30) as found:
        yield found


def test_the_models_are_one_list_in_two_forms(client: httpx.Client) -> None:
    found, openai = client.get("/v1/models").json(), client.get("/v1/decisions/models").json()
    assert {name: found[name] for name in openai} == openai
    assert found["models"][0] == {
        "name": "fake/m",
        "description": "systemone model of fake",
        "release_date": "unknown",
    }
    assert [model["name"] for model in found["models"]] == [model["id"] for model in found["data"]]


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/v1/systemone/", "POST /v1/systemone"),
        ("/systemone", "POST /v1/systemone"),
        ("/v1/v1/systemone", "POST /v1/systemone"),
        ("//v1//systemone", "POST /v1/systemone"),
        ("/V1/SystemOne", "POST /v1/systemone"),
        ("/decisions/", "POST /v1/decisions"),
        ("/decide", "POST /v1/decide"),
        ("/models", "GET /v1/models"),
        ("/decisions/models", "GET /v1/decisions/models"),
        ("/mcp/", "POST /mcp"),
        ("/v1/mcp", "POST /mcp"),
        ("/v1/healthz", "GET /healthz"),
        ("/openapi.json/", "GET /openapi.json"),
        ("/v1%2Fsystemone", "GET /openapi.json"),
        ("/", "GET /openapi.json"),
        ("/v1/", "GET /openapi.json"),
        ("/nothing", "GET /openapi.json"),
    ],
)
def test_a_path_that_is_no_route_is_told_which_one_is(
    client: httpx.Client, upstream: ScriptedUpstream, path: str, meant: str
) -> None:
    asked = len(upstream.requests)
    found = client.post(str(client.base_url).rstrip("/") + path, json=BODY)
    error = found.json()["error"]
    assert (found.status_code, error["code"]) == (404, "not_found")
    assert meant in error["message"]
    assert found.headers["x-typesafe-request-id"] == found.headers["x-request-id"]
    assert len(upstream.requests) == asked


@pytest.mark.parametrize("path", ["/v1/chat/completions/", "//chat/completions", "/V1/Responses"])
def test_a_chat_route_is_known_in_any_spelling(client: httpx.Client, path: str) -> None:
    found = client.post(str(client.base_url).rstrip("/") + path, json=BODY)
    assert (found.status_code, found.json()["error"]["code"]) == (400, "chat_not_supported")


@pytest.mark.parametrize("path", ["/v1/systemone", "/v1/decisions", "/v1/decide"])
@pytest.mark.parametrize("way", ["with its length", "in chunks", "compressed"])
def test_a_body_that_is_too_large_is_told_the_limit_and_its_setting(
    client: httpx.Client, path: str, way: str
) -> None:
    content = b" " * (LIMIT + 1)
    headers = {}
    if way == "compressed":
        content, headers = gzip.compress(content), {"content-encoding": "gzip"}
    sent = iter([content]) if way == "in chunks" else content
    found = client.post(path, content=sent, headers=headers)
    assert found.status_code == 413
    message = found.json()["error"]["message"]
    assert f"{LIMIT} bytes" in message
    assert "http.max_body_bytes" in message


def test_the_gateway_s_limit_holds_for_questions_and_messages_of_mcp(client: httpx.Client) -> None:
    for path in ("/v1/decide", "/mcp"):
        found = client.post(path, content=b" " * (LIMIT + 1))
        message = found.json()["error"]["message"]
        assert (str(LIMIT) in message, "http.max_body_bytes" in message) == (True, True)
