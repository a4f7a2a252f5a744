"""Which provider answers, with whose credentials; and what the listing shows."""

import asyncio
import json
from typing import Any

import pytest

from gateway_core.door.rights import CallerKind
from gateway_core.testing import Received, Reply, ScriptedUpstream

S1: dict[str, Any] = {"state": "s", "questions": {}}
OAI: dict[str, Any] = {"input": "s", "questions": []}


# What is asked for, and the provider's host and the model that are asked upstream.
NAMES: dict[str, tuple[str, str, str]] = {
    "a bare id": ("only-second", "second.example", "only-second"),
    "with the provider": ("first/shared", "first.example", "shared"),
    "the first of two": ("shared", "first.example", "shared"),
    "the second by its name": ("Second/shared", "second.example", "shared"),
    "in other letters": ("sECOND/shared", "second.example", "shared"),
    "an id with a slash": ("first/a/b", "first.example", "a/b"),
    "a listed id before a bare one": ("a/b", "a.example", "b"),
    "a prefix is taken off once": ("first/first/own", "first.example", "first/own"),
    "a bare id that begins like a provider": ("first/own", "first.example", "first/own"),
    "a prefix that is no provider stays": ("FIRST/a/b", "first.example", "a/b"),
    "ids are exact": ("UPPER", "first.example", "UPPER"),
}


@pytest.fixture
def config(read_config: Any) -> str:
    return str(read_config("routing"))


@pytest.mark.anyio
@pytest.mark.parametrize("row", NAMES.values(), ids=NAMES.keys())
async def test_a_model_leads_to_its_provider(
    open_scene: Any, config: str, upstream: Any, row: tuple[str, str, str]
) -> None:
    asked, host, sent = row
    async with open_scene(config) as scene:
        result = await scene.post({"model": asked, **S1}, scene.key())
    received = upstream.requests[0]
    assert received.headers["host"] == host
    assert received.body == json.dumps({"model": sent, **S1}).encode()
    assert result.headers["x-s1gw-model"] == sent


@pytest.mark.anyio
@pytest.mark.parametrize(
    "asked", ["upper", "openai/shared", "nobody/shared", "first/", "/shared", "first", " shared"]
)
async def test_a_name_that_is_not_exact_leads_nowhere(
    open_scene: Any, config: str, upstream: Any, asked: str
) -> None:
    async with open_scene(config) as scene:
        result = await scene.post({"model": asked, **S1}, scene.key())
    assert result.told == (403, "decision_provider_not_configured")
    assert upstream.requests == ()


@pytest.mark.anyio
async def test_the_listing_shows_what_can_be_used_in_configured_order(
    open_scene: Any, config: str, upstream: Any
) -> None:
    async with open_scene(config) as scene:
        listing = (await scene.models(scene.key())).json()
        assert listing["object"] == "list"
        assert [entry["id"] for entry in listing["data"]] == [
            "first/shared",
            "first/a/b",
            "first/first/own",
            "first/UPPER",
            "Second/shared",
            "Second/b",
            "Second/only-second",
            "Second/first/shared",
            "a/b",
            "openai/gpt-6-luna",
            "perplexity/pplx-decider-latest",
        ]
        assert listing["data"][0] == {
            "id": "first/shared",
            "object": "model",
            "created": 0,
            "owned_by": "first",
            "provider": "first",
            "format": "systemone",
        }
        assert {entry["format"] for entry in listing["data"]} == {"systemone", "openai"}
        # Every listed id selects the provider that it names, with its own key.
        for entry in listing["data"]:
            body = OAI if entry["format"] == "openai" else S1
            result = await scene.post({"model": entry["id"], **body}, scene.key())
            assert result.headers["x-s1gw-provider"] == entry["provider"]
        count = len(listing["data"])
    assert len(upstream.requests) == count


@pytest.mark.anyio
async def test_an_openai_model_outside_the_catalogue_can_still_be_called(
    open_scene: Any, config: str
) -> None:
    async with open_scene(config) as scene:
        assert (await scene.post({"model": "private-model", **OAI}, scene.key())).status == 200


@pytest.mark.anyio
async def test_the_listing_keeps_to_the_lists_of_the_key(open_scene: Any, config: str) -> None:
    async with open_scene(config) as scene:
        key = scene.key(providers=("SECOND", "a"), models=("b", "Second/shared"))
        listing = (await scene.models(key)).json()
    assert [entry["id"] for entry in listing["data"]] == ["Second/shared", "Second/b", "a/b"]


@pytest.mark.anyio
async def test_the_listing_of_others_is_empty_or_refused(open_scene: Any, config: str) -> None:
    async with open_scene(config) as scene:
        internal = await scene.models(scene.key(org=None, kind=CallerKind.INTERNAL))
        assert internal.json() == {"object": "list", "data": []}
        assert (await scene.models(scene.key(org="unheard-of"))).json()["data"] == []
        managed = await scene.models(scene.key(kind=CallerKind.MANAGED))
        assert managed.told == (403, "byok_required")
        assert (await scene.models("nobody")).told == (401, "invalid_api_key")
        limited = scene.key(rpm=1)
        assert (await scene.models(limited)).status == 200
        assert (await scene.models(limited)).told == (429, "rate_limit_exceeded")


@pytest.mark.anyio
async def test_without_authentication_the_operators_providers_answer(
    open_scene: Any, config: str, upstream: Any
) -> None:
    async with open_scene(config, auth=False) as scene:
        result = await scene.post({"model": "shared", **S1})
        assert result.status == 200
        refused = await scene.post(
            {"model": "shared", **S1}, headers={"x-agentcc-provider-key": "k"}
        )
        assert refused.told == (400, "provider_key_header_not_allowed")
        listed = [entry["id"] for entry in (await scene.models()).json()["data"]]
    assert upstream.requests[0].headers["authorization"] == "Bearer sk-OPERATOR"
    assert listed[:3] == ["operators/shared", "operators/operators-own", "openai/gpt-6-luna"]
    assert not any(name.startswith("first/") for name in listed)


@pytest.mark.anyio
async def test_with_nothing_configured_the_embedded_engine_answers(open_scene: Any) -> None:
    async with open_scene("", auth=False) as scene:
        listed = (await scene.models()).json()["data"]
        assert listed
        body = {
            "model": listed[0]["id"],
            "state": {"text": "The assistant answered the question and confirmed the next step."},
            "questions": {
                "q1": {
                    "type": "score",
                    "instructions": "Rate whether the assistant provided a clear next step.",
                    "criteria": ["No clear next step", "Clear next step"],
                }
            },
        }
        result = await scene.post(body)
    assert result.status == 200
    assert result.json()["answers"]["q1"]["type"] == "score"


INTERNAL: dict[str, tuple[str, dict[str, Any], str, str, str]] = {
    "TypeSafe": ("typesafe/jev-9", S1, "api.typesafe.ai", "/v1/systemone", "jev-9"),
    "Perplexity": ("Perplexity/p/q", S1, "api.perplexity.ai", "/v1/decisions", "p/q"),
    "OpenAI": ("openai/gpt-6-luna", OAI, "api.openai.com", "/v1/decisions", "gpt-6-luna"),
}


@pytest.mark.anyio
@pytest.mark.parametrize("row", INTERNAL.values(), ids=INTERNAL.keys())
@pytest.mark.parametrize("name", ["x-agentcc-provider-key", "x-s1gw-provider-key"])
async def test_an_internal_call_uses_the_customers_key_at_the_vendors_home(
    open_scene: Any,
    config: str,
    upstream: Any,
    name: str,
    row: tuple[str, dict[str, Any], str, str, str],
) -> None:
    model, body, host, path, sent = row
    async with open_scene(config) as scene:
        key = scene.key(org=None, kind=CallerKind.INTERNAL)
        result = await scene.post({"model": model, **body}, key, headers={name: "sk-customer"})
    received = upstream.requests[0]
    assert (result.status, received.headers["host"], received.path) == (200, host, path)
    assert received.headers["authorization"] == "Bearer sk-customer"
    assert received.json()["model"] == sent
    assert name not in received.headers
    assert "sk-customer" not in repr(result)


@pytest.mark.anyio
async def test_an_internal_call_names_any_model_without_breaking_a_header(
    open_scene: Any, config: str, upstream: Any
) -> None:
    async with open_scene(config) as scene:
        key = scene.key(org=None, kind=CallerKind.INTERNAL)
        body = {"model": "openai/m\r\nx-injected: 1 é", **OAI}
        result = await scene.post(body, key, headers={"x-s1gw-provider-key": "sk-customer"})
        long = await scene.post(
            {"model": "openai/" + "é" * 100_000, **OAI},
            key,
            headers={"x-s1gw-provider-key": "sk-customer"},
        )
    assert result.headers["x-s1gw-model"] == "m%0D%0Ax-injected:%201%20%C3%A9"
    assert upstream.requests[0].json()["model"] == "m\r\nx-injected: 1 é"
    assert len(long.headers["x-s1gw-model"]) <= 6 * 200


@pytest.mark.anyio
async def test_a_lone_surrogate_in_a_vendors_model_goes_on_as_the_escape_it_came_as(
    open_scene: Any, config: str, upstream: Any
) -> None:
    async with open_scene(config) as scene:
        key = scene.key(org=None, kind=CallerKind.INTERNAL)
        body = rb'{"model": "openai/m\ud800", "input": "s", "questions": []}'
        result = await scene.post(body, key, headers={"x-s1gw-provider-key": "sk-customer"})
    assert (result.status, result.headers["x-s1gw-model"]) == (200, "m?")
    assert upstream.requests[0].body == body.replace(b"openai/", b"")


@pytest.mark.anyio
async def test_two_organizations_with_one_model_never_see_each_others_credentials(
    open_scene: Any, network: Any
) -> None:
    """Each upstream answers with the credential that it saw; many calls run at once."""

    def echo(received: Received) -> Reply:
        headers = {"x-ratelimit-echo": received.json()["state"]}
        return Reply(body={"saw": received.headers["authorization"]}, headers=headers)

    toml = "".join(
        f"""
        [orgs.{org}.providers.typesafe]
        api_format = "systemone"
        base_url = "http://{org}.example"
        api_key = {{ env = "KEY_OF_{org}" }}
        models = ["jev-latest"]
        """
        for org in ("red", "blue")
    )
    with ScriptedUpstream() as red, ScriptedUpstream() as blue:
        network.others = {"red.example": red, "blue.example": blue}
        red.answer(echo)
        blue.answer(echo)
        async with open_scene(toml) as scene:
            keys = {org: scene.key(org=org) for org in ("red", "blue")}

            async def call(org: str, number: int) -> None:
                state = f"{org}-{number}"
                body = {"model": "typesafe/jev-latest", "state": state, "questions": {}}
                result = await scene.post(body, keys[org])
                assert result.json() == {"saw": f"Bearer sk-KEY_OF_{org}"}
                assert result.headers["x-ratelimit-echo"] == state
                assert result.record.org == org

            async with asyncio.timeout(60), asyncio.TaskGroup() as group:
                for number in range(150):
                    for org in keys:
                        group.create_task(call(org, number))
        for org, server in (("red", red), ("blue", blue)):
            assert len(server.requests) == 150
            assert {received.json()["state"].split("-")[0] for received in server.requests} == {org}
