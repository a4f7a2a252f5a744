"""A provider that a fault keeps from being asked is told as what it is, and not as missing."""

from typing import Any

import pytest

from gateway_core.door.rights import CallerKind

pytestmark = pytest.mark.anyio
S1: dict[str, Any] = {"state": "s", "questions": {}}
OAI: dict[str, Any] = {"input": "s", "questions": []}
GONE = {"GONE": ""}
CONFIG = """
[orgs.acme.providers.keyless]
dialect = "typesafe"
api_key = { env = "GONE" }
models = ["jev", "shared"]

[orgs.acme.providers.luna]
dialect = "openai-decisions"
api_key = { env = "GONE" }
models = ["gpt"]

[orgs.acme.providers.listless]
dialect = "typesafe"
api_key = { env = "GONE" }

[orgs.acme.providers.late]
api_format = "systemone"
base_url = "http://late.example"
timeout_s = 0
models = ["slow"]

[orgs.acme.providers.off]
api_format = "systemone"
base_url = "http://off.example"
timeout_s = 0
enabled = false
models = ["off"]

[orgs.acme.providers.good]
api_format = "systemone"
base_url = "http://good.example"
models = ["shared", "own"]

[orgs.acme.providers.after]
dialect = "typesafe"
api_key = { env = "GONE" }
models = ["own"]

[orgs.limitless]
limits = { rpm = 0 }

[orgs.limitless.providers.fine]
api_format = "systemone"
base_url = "http://fine.example"
models = ["m"]
"""
ROWS: dict[str, tuple[str, dict[str, Any], str]] = {
    "a key that is not set": ("jev", S1, "provider_key_missing"),
    "with the provider": ("keyless/jev", S1, "provider_key_missing"),
    "in other letters": ("KEYLESS/jev", S1, "provider_key_missing"),
    "of OpenAI": ("gpt", OAI, "decision_provider_not_configured"),
    "a provider that lists nothing": ("listless/jev-latest", S1, "provider_key_missing"),
    "another fault": ("slow", S1, "decision_provider_not_configured"),
    "the first of two": ("shared", S1, "provider_key_missing"),
    "one that is off": ("off", S1, "decision_provider_not_configured"),
}


@pytest.mark.parametrize(("model", "body", "code"), ROWS.values(), ids=ROWS)
async def test_a_call_says_what_is_wrong_with_its_provider(
    open_scene: Any, upstream: Any, model: str, body: dict[str, Any], code: str
) -> None:
    async with open_scene(CONFIG, secrets=GONE, faulty=True) as scene:
        result = await scene.post({"model": model, **body}, scene.key())
    assert result.told == (403, code)
    assert upstream.requests == ()
    assert "GONE" not in str(result.json())


async def test_what_is_sound_is_served_beside_it(open_scene: Any) -> None:
    async with open_scene(CONFIG, secrets=GONE, faulty=True) as scene:
        key = scene.key()
        assert (await scene.post({"model": "own", **S1}, key)).status == 200
        assert (await scene.post({"model": "good/shared", **S1}, key)).status == 200
        listing = (await scene.models(key)).json()["data"]
    assert [entry["id"] for entry in listing] == ["good/shared", "good/own"]


async def test_a_fault_of_the_organization_is_one_of_its_providers(open_scene: Any) -> None:
    async with open_scene(CONFIG, secrets=GONE, faulty=True) as scene:
        result = await scene.post({"model": "m", **S1}, scene.key(org="limitless"))
    assert result.told == (403, "decision_provider_not_configured")
    assert "as it is configured" in result.json()["error"]["message"]


async def test_a_key_that_may_not_use_the_provider_does_not_learn_what_is_wrong(
    open_scene: Any,
) -> None:
    async with open_scene(CONFIG, secrets=GONE, faulty=True) as scene:
        key = scene.key(providers=("good",))
        assert (await scene.post({"model": "jev", **S1}, key)).told == (403, "permission_denied")
        internal = scene.key(kind=CallerKind.INTERNAL, org=None)
        answer = await scene.post(
            {"model": "keyless/jev", **S1}, internal, headers={"x-agentcc-provider-key": "sk-c"}
        )
    assert answer.told == (403, "decision_provider_not_configured")
