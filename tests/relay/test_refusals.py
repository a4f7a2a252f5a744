"""Every refusal of the contract has its code, and comes before any upstream call."""

import gzip
from typing import Any

import pytest

from gateway_core.door.rights import CallerKind
from gateway_core.relay.route import RelayRoute

S1: dict[str, Any] = {"model": "jev-latest", "state": "s", "questions": {}}


OAI: dict[str, Any] = {"model": "gpt-6-luna", "input": "s", "questions": []}


KEY_HEADER = {"x-agentcc-provider-key": "sk-customer"}


def naming(model: str, body: dict[str, Any] = S1) -> dict[str, Any]:
    return {**body, "model": model}


@pytest.fixture
def config(read_config: Any) -> str:
    return str(read_config("checks"))


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
        {"route": RelayRoute.SYSTEMONE},
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
    open_scene: Any,
    config: str,
    upstream: Any,
    row: tuple[dict[str, Any], Any, dict[str, Any], tuple[int, str]],
) -> None:
    caller, body, call, told = row
    async with open_scene(config) as scene:
        result = await scene.post(body, scene.key(**caller), **call)
    assert result.told == told
    assert upstream.requests == ()
    error = result.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert result.headers["content-type"] == "application/json"
    assert result.headers["x-request-id"] == "req-1"
    assert result.record.code == told[1]
    for hidden in ("sk-", "169.254", "pass", "jev", "http://", "line 1", "column"):
        assert hidden not in error["message"]
