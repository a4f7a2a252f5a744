"""The checks come in the contract's order, and hold for any body."""

import json
from typing import Any

import attrs
import pytest

from gateway_core.door.keys.file import changing_keys
from gateway_core.door.rights import CallerKind
from gateway_core.relay.route import RelayRoute

S1: dict[str, Any] = {"model": "jev-latest", "state": "s", "questions": {}}


OAI: dict[str, Any] = {"model": "gpt-6-luna", "input": "s", "questions": []}


def naming(model: str, body: dict[str, Any] = S1) -> dict[str, Any]:
    return {**body, "model": model}


@pytest.fixture
def config(read_config: Any) -> str:
    return str(read_config("checks"))


@pytest.mark.anyio
async def test_the_checks_come_in_their_order(open_scene: Any, config: str, upstream: Any) -> None:
    """Everything is wrong at first; one fault after the other is mended."""
    async with open_scene(config) as scene:
        scene.key()
        headers = {"x-agentcc-provider-key": "k", "content-encoding": "br"}
        wrong: Any = b'{"model":"jev-latest","questions":[],"questions":[]}'

        async def told(key: str | None, body: Any, **call: Any) -> str:
            result = await scene.post(body, key, route=RelayRoute.SYSTEMONE, **call)
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
async def test_what_one_call_may_is_no_leave_for_another(open_scene: Any, config: str) -> None:
    async with open_scene(config) as scene:
        key = scene.key()
        for _ in range(2):
            assert (await scene.post(S1, key)).status == 200
        other = scene.key(models=("else",))
        assert (await scene.post(S1, other)).told == (403, "permission_denied")
        stranger = scene.key(org="other")
        assert (await scene.post(S1, stranger)).told == (403, "decision_provider_not_configured")
        assert (await scene.post({**S1, "questions": []}, key)).told == (422, "format_mismatch")


@pytest.mark.anyio
async def test_a_key_that_may_less_than_before_is_refused_what_it_used(
    open_scene: Any, config: str
) -> None:
    async with open_scene(config) as scene:
        key = scene.key()
        assert (await scene.post(S1, key)).status == 200
        with changing_keys(scene.keys_path) as keys:
            for known, record in keys.items():
                keys[known] = attrs.evolve(record, models=("else",))
        assert (await scene.post(S1, key)).told == (403, "permission_denied")


@pytest.mark.anyio
async def test_a_limit_of_a_key_is_told_with_when_to_come_again(
    open_scene: Any, config: str
) -> None:
    async with open_scene(config) as scene:
        key = scene.key(rpm=1)
        assert (await scene.post(S1, key)).status == 200
        result = await scene.post(S1, key)
    assert result.told == (429, "rate_limit_exceeded")
    assert int(result.headers["retry-after"]) >= 1
    assert result.headers["x-ratelimit-limit"] == "1"
    assert result.headers["x-ratelimit-remaining"] == "0"
    assert result.headers["x-ratelimit-reset"] == result.headers["retry-after"]


@pytest.mark.anyio
async def test_the_body_limit_is_never_more_than_32_mib(open_scene: Any, config: str) -> None:
    async with open_scene(config.replace("5000", "100000000")) as scene:
        result = await scene.post(b"", scene.key(), headers={"content-length": str(2**25 + 1)})
    assert result.told == (413, "request_too_large")


@pytest.mark.anyio
async def test_any_content_type_with_a_json_body_is_json(
    open_scene: Any, config: str, upstream: Any
) -> None:
    async with open_scene(config) as scene:
        for content_type in ("text/plain", "application/x-www-form-urlencoded", ""):
            result = await scene.post(S1, scene.key(), headers={"content-type": content_type})
            assert result.status == 200
    kinds = {request.headers["content-type"] for request in upstream.requests}
    assert kinds == {"application/json"}
    assert upstream.requests[0].body == json.dumps(S1).encode()
