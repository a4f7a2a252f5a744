"""Who gets in, by which header, and from where."""

from typing import Any

import pytest

from gateway_core.door.callers import Caller, customer_key
from gateway_core.door.rights import CallerKind
from gateway_core.errors import RelayRefused

S1: dict[str, Any] = {"model": "jev-latest", "state": "s", "questions": {}}


@pytest.fixture
def config(read_config: Any) -> str:
    return str(read_config("checks"))


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
    open_scene: Any, config: str, upstream: Any, headers: dict[str, str]
) -> None:
    async with open_scene(config) as scene:
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
async def test_a_key_is_taken_in_any_usual_way(
    open_scene: Any, config: str, headers: dict[str, str]
) -> None:
    async with open_scene(config) as scene:
        key = scene.key()
        sent = {name: text.replace("{key}", key) for name, text in headers.items()}
        assert (await scene.post(S1, headers=sent)).status == 200


@pytest.mark.anyio
async def test_a_key_is_taken_from_its_own_network(open_scene: Any, config: str) -> None:
    async with open_scene(config) as scene:
        key = scene.key(addresses=("10.0.0.0/8", "2001:db8::/32"))
        for client in ("10.9.8.7", "::ffff:10.9.8.7", "2001:db8::1"):
            assert (await scene.post(S1, key, client=client)).status == 200
        for client in ("192.0.2.1", "", "testclient"):
            assert (await scene.post(S1, key, client=client)).told == (403, "permission_denied")


@pytest.mark.parametrize("name", ["x-agentcc-provider-key", "x-s1gw-provider-key"])
@pytest.mark.parametrize(
    ("kind", "sent", "reason"),
    [
        (CallerKind.ORG, b"sk", "provider_key_header_not_allowed"),
        (CallerKind.MANAGED, b"sk", "provider_key_header_not_allowed"),
        (CallerKind.INTERNAL, b" ", "byok_required"),
        (CallerKind.INTERNAL, b"s k", "invalid_request"),
    ],
)
def test_a_refused_provider_key_is_named_by_the_header_that_was_used(
    name: str, kind: CallerKind, sent: bytes, reason: str
) -> None:
    with pytest.raises(RelayRefused) as caught:
        customer_key(Caller(kind=kind), {name.encode(): sent})
    assert (caught.value.reason, caught.value.field) == (reason, name)
    assert name in str(caught.value)


def test_a_missing_provider_key_is_named_by_the_preferred_header() -> None:
    with pytest.raises(RelayRefused, match="in x-agentcc-provider-key"):
        customer_key(Caller(kind=CallerKind.INTERNAL), {})
