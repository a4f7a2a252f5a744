"""The checks of a call, each with its code, in the contract's order, and no upstream before."""

import gzip
import json
from typing import Any

import pytest

from gateway_core.relay.call import Route
from gateway_core.relay.callers import CallerKind

CONFIG = """
[http]
max_body_bytes = 5000

[orgs.acme.limits]
concurrency = 50

[orgs.acme.providers.typesafe]
api_format = "typesafe"
base_url = "http://api.typesafe.ai"
api_key = { env = "ACME_TYPESAFE" }
models = ["jev-latest"]

[orgs.acme.providers.perplexity]
api_format = "systemone"
models = ["pplx-decider-latest"]

[orgs.acme.providers.openai]
api_format = "openai"
models = ["gpt-6-luna"]

[orgs.acme.providers.mislabelled]
api_format = "openai"
base_url = "http://API.TypeSafe.ai.:80/v1"
api_key = { env = "ACME_MISLABELLED" }
models = ["wrong-format"]

[orgs.acme.providers.disabled]
api_format = "systemone"
base_url = "http://disabled.example"
enabled = false
models = ["off"]

[orgs.acme.providers.blocked]
api_format = "systemone"
base_url = "http://169.254.169.254"
models = ["blocked"]

[orgs.acme.providers.unusable]
api_format = "systemone"
base_url = "http://user:pass@h.example"
models = ["unusable"]

[orgs.acme.providers.nowhere]
api_format = "systemone"
models = ["nowhere"]

[orgs.acme.providers.strange]
dialect = "not-installed"
models = ["strange"]

[orgs.other.providers.secretive]
api_format = "systemone"
base_url = "http://other.example"
models = ["of-the-other"]

[providers.operators]
api_format = "systemone"
base_url = "http://operator.example"
api_key = { env = "OPERATOR" }
models = ["of-the-operator"]
"""

S1: dict[str, Any] = {"model": "jev-latest", "state": "s", "questions": {}}
OAI: dict[str, Any] = {"model": "gpt-6-luna", "input": "s", "questions": []}
KEY_HEADER = {"x-agentcc-provider-key": "sk-customer"}


def naming(model: str, body: dict[str, Any] = S1) -> dict[str, Any]:
    return {**body, "model": model}


# Who calls, what is sent, and what comes back; every line breaks the rule that it is named for.
ROWS: dict[str, tuple[dict[str, Any], Any, dict[str, Any], tuple[int, str]]] = {
    "a provider key from an organization": (
        {},
        S1,
        {"headers": KEY_HEADER},
        (400, "provider_key_header_not_allowed"),
    ),
    "the same under its other name": (
        {},
        S1,
        {"headers": {"x-s1gw-provider-key": ""}},
        (400, "provider_key_header_not_allowed"),
    ),
    "a provider key with a managed token": (
        {"kind": CallerKind.MANAGED},
        S1,
        {"headers": KEY_HEADER},
        (400, "provider_key_header_not_allowed"),
    ),
    "a managed token": ({"kind": CallerKind.MANAGED}, S1, {}, (403, "byok_required")),
    "an internal caller without a key": (
        {"kind": CallerKind.INTERNAL},
        naming("openai/m", OAI),
        {},
        (403, "byok_required"),
    ),
    "an internal caller with a blank key": (
        {"kind": CallerKind.INTERNAL},
        naming("openai/m", OAI),
        {"headers": {"x-agentcc-provider-key": " "}},
        (403, "byok_required"),
    ),
    "a key that is no header value": (
        {"kind": CallerKind.INTERNAL},
        naming("openai/m", OAI),
        {"headers": {"x-agentcc-provider-key": "a b"}},
        (400, "invalid_request"),
    ),
    "too large": ({}, b"x" * 5001, {}, (413, "request_too_large")),
    "too large once decoded": (
        {},
        gzip.compress(b" " * 5001),
        {"headers": {"content-encoding": "gzip"}},
        (413, "request_too_large"),
    ),
    "an unknown encoding": (
        {},
        S1,
        {"headers": {"content-encoding": "br"}},
        (415, "unsupported_content_encoding"),
    ),
    "no JSON": ({}, b"{", {}, (400, "invalid_request")),
    "no object": ({}, [], {}, (400, "invalid_request")),
    "a repeated key": (
        {},
        b'{"model":"a","model":"a","questions":{}}',
        {},
        (400, "invalid_request"),
    ),
    "a blank model": ({}, naming(" "), {}, (400, "invalid_request")),
    "questions null": ({}, {**S1, "questions": None}, {}, (400, "invalid_request")),
    "an array on the System One route": (
        {},
        OAI,
        {"route": Route.SYSTEMONE},
        (422, "format_mismatch"),
    ),
    "an unknown model": ({}, naming("nobody's"), {}, (403, "decision_provider_not_configured")),
    "the model of a disabled provider": (
        {},
        naming("off"),
        {},
        (403, "decision_provider_not_configured"),
    ),
    "the model of another organization": (
        {},
        naming("of-the-other"),
        {},
        (403, "decision_provider_not_configured"),
    ),
    "the operator's model": (
        {},
        naming("operators/of-the-operator"),
        {},
        (403, "decision_provider_not_configured"),
    ),
    "a model that the dialect has by default, not listed": (
        {},
        naming("typesafe/jev-preview"),
        {},
        (403, "decision_provider_not_configured"),
    ),
    "a plugin that is not installed": (
        {},
        naming("strange"),
        {},
        (403, "decision_provider_not_configured"),
    ),
    "an organization without configuration": (
        {"org": "unheard-of"},
        S1,
        {},
        (403, "decision_provider_not_configured"),
    ),
    "a model that the key may not use": (
        {"models": ("else",)},
        S1,
        {},
        (403, "permission_denied"),
    ),
    "a provider that the key may not use": (
        {"providers": ("else",)},
        S1,
        {},
        (403, "permission_denied"),
    ),
    "a key of another network": (
        {"addresses": ("10.0.0.0/8",)},
        S1,
        {},
        (403, "permission_denied"),
    ),
    "a wrong api_format": (
        {},
        naming("wrong-format", OAI),
        {},
        (403, "decision_provider_wrong_format"),
    ),
    "a System One body for OpenAI": ({}, naming("gpt-6-luna"), {}, (422, "format_mismatch")),
    "an OpenAI body for TypeSafe": ({}, naming("jev-latest", OAI), {}, (422, "format_mismatch")),
    "a System One vendor without a key": (
        {},
        naming("pplx-decider-latest"),
        {},
        (403, "provider_key_missing"),
    ),
    "OpenAI without a key": ({}, OAI, {}, (403, "decision_provider_not_configured")),
    "a forbidden destination": ({}, naming("blocked"), {}, (403, "provider_base_url_blocked")),
    "a base URL with a password": (
        {},
        naming("unusable"),
        {},
        (502, "provider_base_url_unusable"),
    ),
    "no base URL": ({}, naming("nowhere"), {}, (502, "provider_base_url_unusable")),
    "an internal caller without a vendor": (
        {"kind": CallerKind.INTERNAL},
        S1,
        {"headers": KEY_HEADER},
        (403, "decision_provider_not_configured"),
    ),
    "an internal caller with a vendor that needs no key": (
        {"kind": CallerKind.INTERNAL},
        naming("laya/laya-english"),
        {"headers": KEY_HEADER},
        (403, "decision_provider_not_configured"),
    ),
    "an internal caller with the operator's provider": (
        {"kind": CallerKind.INTERNAL},
        naming("operators/of-the-operator"),
        {"headers": KEY_HEADER},
        (403, "decision_provider_not_configured"),
    ),
    "an internal caller with a vendor and no model": (
        {"kind": CallerKind.INTERNAL},
        naming("typesafe/ "),
        {"headers": KEY_HEADER},
        (403, "decision_provider_not_configured"),
    ),
    "an internal caller with the wrong body": (
        {"kind": CallerKind.INTERNAL},
        naming("openai/gpt-6-luna"),
        {"headers": KEY_HEADER},
        (422, "format_mismatch"),
    ),
}


@pytest.mark.anyio
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
async def test_every_refusal_has_its_code_and_reaches_no_upstream(
    open_scene: Any, upstream: Any, row: tuple[dict[str, Any], Any, dict[str, Any], tuple[int, str]]
) -> None:
    caller, body, call, told = row
    async with open_scene(CONFIG) as scene:
        result = await scene.post(body, scene.key(**caller), **call)
    assert result.told == told
    assert upstream.requests == ()
    error = result.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert result.headers["content-type"] == "application/json"
    assert result.headers["x-request-id"] == "req-1"
    assert (result.record.status, result.record.code) == told
    assert result.record.bytes_out == len(result.reply.body)
    for hidden in ("sk-", "169.254", "pass", "jev", "http://", "line 1", "column"):
        assert hidden not in error["message"]


TOKENS: dict[str, dict[str, str]] = {
    "none": {},
    "unknown": {"authorization": "Bearer s1gw_0123456789ab_nothing"},
    "another's": {"authorization": "Bearer sk-live"},
    "no scheme": {"authorization": "{key}"},
    "another scheme": {"authorization": "Basic {key}"},
    "blank": {"authorization": "Bearer  "},
    "blank x-api-key": {"x-api-key": " "},
}


@pytest.mark.anyio
@pytest.mark.parametrize("headers", TOKENS.values(), ids=TOKENS.keys())
async def test_without_a_key_nobody_gets_in(
    open_scene: Any, upstream: Any, headers: dict[str, str]
) -> None:
    async with open_scene(CONFIG) as scene:
        key = scene.key()
        sent = {name: text.replace("{key}", key) for name, text in headers.items()}
        result = await scene.post(S1, headers=sent)
    assert result.told == (401, "invalid_api_key")
    assert result.headers["www-authenticate"] == "Bearer"
    assert upstream.requests == ()
    assert result.record.key is None


@pytest.mark.anyio
@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer {key}"},
        {"authorization": "bearer {key}"},
        {"authorization": "BEARER   {key} "},
        {"x-api-key": "{key}"},
        {"authorization": "Basic abc", "x-api-key": "{key}"},
    ],
)
async def test_a_key_is_taken_in_any_usual_way(open_scene: Any, headers: dict[str, str]) -> None:
    async with open_scene(CONFIG) as scene:
        key = scene.key()
        sent = {name: text.replace("{key}", key) for name, text in headers.items()}
        assert (await scene.post(S1, headers=sent)).status == 200


@pytest.mark.anyio
async def test_a_key_is_taken_from_its_own_network(open_scene: Any) -> None:
    async with open_scene(CONFIG) as scene:
        key = scene.key(addresses=("10.0.0.0/8", "2001:db8::/32"))
        for client in ("10.9.8.7", "::ffff:10.9.8.7", "2001:db8::1"):
            assert (await scene.post(S1, key, client=client)).status == 200
        for client in ("192.0.2.1", "", "testclient"):
            assert (await scene.post(S1, key, client=client)).told == (403, "permission_denied")


@pytest.mark.anyio
async def test_the_checks_come_in_their_order(open_scene: Any, upstream: Any) -> None:
    """Everything is wrong at first; one fault after the other is mended."""
    async with open_scene(CONFIG) as scene:
        scene.key()
        headers = {"x-agentcc-provider-key": "k", "content-encoding": "br"}
        wrong: Any = b'{"model":"jev-latest","questions":[],"questions":[]}'

        async def told(key: str | None, body: Any, **call: Any) -> str:
            result = await scene.post(body, key, route=Route.SYSTEMONE, **call)
            return str(result.code)

        limited = scene.key(rpm=1, models=("else",))
        managed = scene.key(kind=CallerKind.MANAGED, rpm=1)
        codes = [
            await told("wrong", wrong, headers=headers),
            await told(managed, wrong, headers=headers),
            await told(managed, wrong, headers={"content-encoding": "br"}),
            await told(limited, wrong, headers={"content-encoding": "br"}),
            await told(limited, wrong, headers={"content-encoding": "br"}),
        ]
        denied = scene.key(models=("else",))
        codes += [
            await told(denied, b"x" * 5001),
            await told(denied, wrong),
            await told(denied, naming("nobody's", OAI)),
            await told(denied, naming("nobody's")),
            await told(denied, naming("wrong-format")),
            await told(scene.key(), naming("wrong-format")),
            await told(scene.key(), naming("openai/gpt-6-luna")),
            await told(scene.key(), naming("pplx-decider-latest")),
            await told(scene.key(), naming("blocked")),
        ]
    assert codes == [
        "invalid_api_key",
        "provider_key_header_not_allowed",
        "byok_required",
        "unsupported_content_encoding",
        "rate_limit_exceeded",
        "request_too_large",
        "invalid_request",
        "format_mismatch",
        "decision_provider_not_configured",
        "permission_denied",
        "decision_provider_wrong_format",
        "format_mismatch",
        "provider_key_missing",
        "provider_base_url_blocked",
    ]
    assert upstream.requests == ()


@pytest.mark.anyio
async def test_a_limit_of_a_key_is_told_with_when_to_come_again(open_scene: Any) -> None:
    async with open_scene(CONFIG) as scene:
        key = scene.key(rpm=1)
        assert (await scene.post(S1, key)).status == 200
        result = await scene.post(S1, key)
    assert result.told == (429, "rate_limit_exceeded")
    assert int(result.headers["retry-after"]) >= 1
    assert result.headers["x-ratelimit-limit"] == "1"
    assert result.headers["x-ratelimit-remaining"] == "0"
    assert result.headers["x-ratelimit-reset"] == result.headers["retry-after"]


@pytest.mark.anyio
async def test_the_body_limit_is_never_more_than_32_mib(open_scene: Any) -> None:
    async with open_scene(CONFIG.replace("5000", "100000000")) as scene:
        result = await scene.post(b"", scene.key(), headers={"content-length": str(2**25 + 1)})
    assert result.told == (413, "request_too_large")


@pytest.mark.anyio
async def test_any_content_type_with_a_json_body_is_json(open_scene: Any, upstream: Any) -> None:
    async with open_scene(CONFIG) as scene:
        for content_type in ("text/plain", "application/x-www-form-urlencoded", ""):
            result = await scene.post(S1, scene.key(), headers={"content-type": content_type})
            assert result.status == 200
    kinds = {request.headers["content-type"] for request in upstream.requests}
    assert kinds == {"application/json"}
    assert upstream.requests[0].body == json.dumps(S1).encode()
