"""Every code of the contract's table of errors, through the real server.

An organization may not send to loopback, so that its providers have addresses of the range for
documentation, and the proxy that leads there is the scripted upstream.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import httpx
import pytest

from gateway_core.testing import Gate, Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

SYSTEMONE = {"model": "jev", "state": "never-log-this", "questions": {"q": {"type": "noul"}}}
OPENAI = {"model": "luna", "input": "never-log-this", "questions": [{"type": "predicate"}]}
ANSWER = {"model": "m", "answers": {}, "usage": {}}
CONFIG = """
[http]
max_body_bytes = 2000
timeout_s = 1.0

[orgs.acme.providers.typesafe]
api_format = "systemone"
models = ["keyless"]

[orgs.acme.providers.jev]
api_format = "systemone"
base_url = "http://203.0.113.10"
api_key = { env = "ORG_KEY" }
models = ["jev"]

[orgs.acme.providers.openai]
api_format = "openai"
base_url = "http://203.0.113.11/v1"
api_key = { env = "ORG_KEY" }
models = ["luna"]

[orgs.acme.providers.wrong]
api_format = "openai"
base_url = "https://api.typesafe.ai"
api_key = { env = "ORG_KEY" }
models = ["wrong"]

[orgs.acme.providers.inside]
api_format = "systemone"
base_url = "http://127.0.0.1:9"
models = ["inside"]

[orgs.acme.providers.nowhere]
api_format = "systemone"
base_url = "http://no-such-host.invalid"
models = ["nowhere"]
"""


@pytest.fixture(scope="module")
def proxy() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as found:
        yield found


@pytest.fixture(scope="module")
def keys(gateway: GatewayProcess) -> Mapping[str, str]:
    return {
        "org": gateway.key(org="acme"),
        "internal": gateway.key(kind="internal"),
        "managed": gateway.key(kind="managed", org="acme"),
        "slow": gateway.key(org="acme", rpm=1),
        "narrow": gateway.key(org="acme", models=("luna",)),
        "elsewhere": gateway.key(org="acme", addresses=("198.51.100.0/24",)),
    }


@attrs.frozen(kw_only=True)
class Case:
    """One call, what the upstream makes of it, and what the caller is told."""

    status: int
    code: str
    body: Any = attrs.field(factory=lambda: SYSTEMONE)
    route: str = "/v1/systemone"
    key: str = "org"
    headers: Mapping[str, str] = {}
    upstream: Reply | None = None


def reply(status: int, **headers: str) -> Reply:
    detail = {"detail": {"message": "told by the upstream"}}
    return Reply(
        status=status, body=detail, headers={k.replace("_", "-"): v for k, v in headers.items()}
    )


def naming(model: str) -> dict[str, Any]:
    return {**SYSTEMONE, "model": model}


KEY = {"x-agentcc-provider-key": "never-log-this-key"}
CASES = {
    "no key": Case(status=401, code="invalid_api_key", key="none"),
    "unknown key": Case(status=401, code="invalid_api_key", key="unknown"),
    "address": Case(status=403, code="permission_denied", key="elsewhere"),
    "managed": Case(status=403, code="byok_required", key="managed"),
    "internal": Case(status=403, code="byok_required", key="internal"),
    "key sent": Case(status=400, code="provider_key_header_not_allowed", headers=KEY),
    "key sent, new name": Case(
        status=400,
        code="provider_key_header_not_allowed",
        headers={"x-s1gw-provider-key": "never-log-this-key"},
    ),
    "internal, other vendor": Case(
        status=403, code="decision_provider_not_configured", key="internal", headers=KEY
    ),
    "no credential": Case(status=403, code="provider_key_missing", body=naming("keyless")),
    "no such model": Case(
        status=403, code="decision_provider_not_configured", body=naming("unknown")
    ),
    "model not allowed": Case(status=403, code="permission_denied", key="narrow"),
    "wrong api_format": Case(
        status=403, code="decision_provider_wrong_format", body=naming("wrong")
    ),
    "array here": Case(status=422, code="format_mismatch", body=OPENAI),
    "object to OpenAI": Case(
        status=422, code="format_mismatch", body=naming("luna"), route="/v1/decisions"
    ),
    "array to System One": Case(
        status=422,
        code="format_mismatch",
        body={**OPENAI, "model": "jev"},
        route="/v1/decisions",
    ),
    "blocked": Case(status=403, code="provider_base_url_blocked", body=naming("inside")),
    "unresolvable": Case(status=502, code="provider_base_url_unusable", body=naming("nowhere")),
    "not JSON": Case(status=400, code="invalid_request", body=b"never-log-this"),
    "key twice": Case(
        status=400, code="invalid_request", body=b'{"model":"jev","model":"jev","questions":{}}'
    ),
    "too large": Case(status=413, code="request_too_large", body={**SYSTEMONE, "more": "x" * 2000}),
    "encoding": Case(
        status=415, code="unsupported_content_encoding", headers={"content-encoding": "br"}
    ),
    "upstream 401": Case(status=403, code="provider_key_rejected", upstream=reply(401)),
    "upstream 403": Case(status=403, code="provider_key_rejected", upstream=reply(403)),
    "upstream 402": Case(status=402, code="provider_payment_required", upstream=reply(402)),
    "upstream 404": Case(status=404, code="model_not_found", upstream=reply(404)),
    "upstream 413": Case(status=413, code="request_too_large", upstream=reply(413)),
    "upstream 429": Case(status=429, code="rate_limit_exceeded", upstream=reply(429)),
    "upstream 503": Case(status=503, code="provider_overloaded", upstream=reply(503)),
    "upstream 529": Case(status=503, code="provider_overloaded", upstream=reply(529)),
    "upstream 408": Case(status=504, code="gateway_timeout", upstream=reply(408)),
    "upstream 504": Case(status=504, code="gateway_timeout", upstream=reply(504)),
    "no answer": Case(status=504, code="gateway_timeout", upstream=Reply(body=ANSWER, gate=Gate())),
    "upstream 400": Case(status=400, code="upstream_rejected", upstream=reply(400)),
    "upstream 422": Case(status=422, code="upstream_rejected", upstream=reply(422)),
    "upstream 500": Case(status=502, code="upstream_error", upstream=reply(500)),
    "upstream 302": Case(
        status=502, code="upstream_error", upstream=reply(302, location="http://203.0.113.12/")
    ),
    "array back": Case(status=502, code="upstream_invalid_response", upstream=Reply(body=b"[1]")),
    "page back": Case(status=502, code="upstream_invalid_response", upstream=Reply(body=b"<html>")),
    "no such route": Case(status=404, code="not_found", route="/v1/nothing"),
    "chat": Case(status=400, code="chat_not_supported", route="/v1/chat/completions"),
    "responses": Case(status=400, code="chat_not_supported", route="/v1/responses"),
    "messages": Case(status=400, code="chat_not_supported", route="/v1/messages"),
    "method": Case(status=405, code="method_not_allowed", route="/v1/decisions/models"),
}


def send(gateway: GatewayProcess, case: Case, key: str | None) -> httpx.Response:
    body = case.body if isinstance(case.body, bytes) else json.dumps(case.body).encode()
    sent = {"authorization": f"Bearer {key}"} if key else {}
    return httpx.post(
        gateway.url + case.route, content=body, headers={**sent, **case.headers}, timeout=30
    )


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_each_refusal_has_its_status_and_code(
    gateway: GatewayProcess, proxy: ScriptedUpstream, keys: Mapping[str, str], case: Case
) -> None:
    asked = len(proxy.requests)
    if case.upstream is not None:
        proxy.queue(case.upstream)
    found = send(gateway, case, {**keys, "unknown": "s1gw_x_never-log-this"}.get(case.key))
    error = found.json()["error"]
    assert (found.status_code, error["code"]) == (case.status, case.code)
    assert error.keys() == {"message", "type", "param", "code"}
    assert found.headers["x-request-id"]
    assert "never-log-this" not in found.text
    assert "203.0.113" not in found.text
    assert len(proxy.requests) - asked == (0 if case.upstream is None else 1)


def test_the_own_limit_says_when_to_come_back(
    gateway: GatewayProcess, proxy: ScriptedUpstream, keys: Mapping[str, str]
) -> None:
    proxy.queue(Reply(body=ANSWER))
    case = Case(status=429, code="rate_limit_exceeded")
    assert send(gateway, case, keys["slow"]).status_code == 200
    found = send(gateway, case, keys["slow"])
    assert (found.status_code, found.json()["error"]["code"]) == (case.status, case.code)
    assert 0 < int(found.headers["retry-after"]) <= 60
    names = ("limit", "remaining", "reset")
    assert all(f"x-ratelimit-{name}" in found.headers for name in names)


@pytest.mark.parametrize("after", ["7", "Wed, 21 Oct 2099 07:28:00 GMT", "287441", "0"])
@pytest.mark.parametrize("status", [429, 503])
def test_the_upstreams_retry_after_comes_as_it_was(
    gateway: GatewayProcess,
    proxy: ScriptedUpstream,
    keys: Mapping[str, str],
    status: int,
    after: str,
) -> None:
    proxy.queue(reply(status, retry_after=after, retry_after_ms="5", x_should_retry="false"))
    found = send(gateway, Case(status=status, code=""), keys["org"])
    assert found.headers["retry-after"] == after
    assert found.headers["retry-after-ms"] == "5"
    assert found.headers["x-should-retry"] == "false"


def test_the_upstreams_objection_is_passed_on(
    gateway: GatewayProcess, proxy: ScriptedUpstream, keys: Mapping[str, str]
) -> None:
    proxy.queue(reply(422))
    found = send(gateway, Case(status=422, code=""), keys["org"])
    assert "told by the upstream" in found.json()["error"]["message"]


def test_an_unknown_method_is_told_which_there_are(gateway: GatewayProcess) -> None:
    found = httpx.request("DELETE", f"{gateway.url}/v1/systemone", timeout=30)
    assert (found.status_code, found.headers["allow"]) == (405, "OPTIONS, POST")


def test_options_tells_the_methods(gateway: GatewayProcess) -> None:
    found = httpx.options(f"{gateway.url}/v1/decisions/models", timeout=30)
    assert (found.status_code, found.headers["allow"]) == (200, "GET, HEAD, OPTIONS")


def test_the_refusal_of_chat_names_the_routes_for_decisions(gateway: GatewayProcess) -> None:
    found = httpx.post(f"{gateway.url}/v1/chat/completions", json={}, timeout=30)
    assert "POST /v1/systemone" in found.json()["error"]["message"]
    assert "POST /v1/decisions" in found.json()["error"]["message"]
