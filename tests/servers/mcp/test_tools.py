"""The three tools through a real client, in both eras of the protocol."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import jsonschema
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from gateway_core.schema import CAPABILITIES, HEALTH, PUBLISHED, RESPONSE
from gateway_core.servers.mcp.server import build_server
from gateway_core.testing import Reply, ScriptedUpstream

pytestmark = pytest.mark.anyio
Connect = Callable[[str], Client]
ASK = {"question": "Is this urgent?", "context": {"text": "payouts fail"}, "request_id": "r-1"}
OUTPUTS = {
    "system1_decide": RESPONSE,
    "system1_health": HEALTH,
    "system1_capabilities": CAPABILITIES,
}


async def called(client: Client, name: str, arguments: Mapping[str, Any] | None = None) -> Any:
    """Call a tool; what it returns must fit its schema and be the same as text."""
    result = await client.call_tool(name, dict(arguments or {}))
    jsonschema.validate(result.structured_content, OUTPUTS[name])
    assert json.loads(result.content[0].text) == result.structured_content
    return result


async def test_the_tools_carry_the_published_schemas_and_say_what_they_are(
    connect: Connect, mode: str
) -> None:
    async with connect(mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert "reason it through yourself" in (client.instructions or "")
        assert client.protocol_version == {"legacy": "2025-11-25", "auto": "2026-07-28"}[mode]
    assert tools.keys() == OUTPUTS.keys()
    decide = tools["system1_decide"]
    assert decide.input_schema == PUBLISHED["request.json"]
    assert {name: tool.output_schema for name, tool in tools.items()} == OUTPUTS
    for tool in tools.values():
        assert tool.description
        assert tool.annotations.read_only_hint
        assert not tool.annotations.destructive_hint
        assert tool.annotations.idempotent_hint
    assert decide.annotations.open_world_hint
    assert not tools["system1_capabilities"].annotations.open_world_hint


async def test_a_decision_comes_from_the_provider_as_structured_content(
    connect: Connect, mode: str, one_provider: ScriptedUpstream
) -> None:
    async with connect(mode) as client:
        result = await called(client, "system1_decide", ASK)
    reply = result.structured_content
    assert (reply["status"], reply["decision"], reply["confidence"]) == ("decided", "yes", 0.95)
    assert (reply["provider"], reply["model"], reply["request_id"]) == ("up", "m-1.2", "r-1")
    assert not result.is_error
    assert one_provider.requests[0].json() == {
        "model": "m-1",
        "state": {"text": "payouts fail"},
        "questions": {"decision": {"type": "noul", "instructions": "Is this urgent?"}},
    }


async def test_a_client_that_knows_the_new_protocol_needs_no_handshake_at_all(
    connect: Connect, one_provider: ScriptedUpstream
) -> None:
    async with connect("2026-07-28") as client:
        assert (await called(client, "system1_decide", ASK)).structured_content["decision"] == "yes"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [({}, "question"), ({"question": 3}, "question"), ({"question": "?", "option": []}, "option")],
)
async def test_invalid_arguments_come_back_as_a_result(
    connect: Connect,
    mode: str,
    one_provider: ScriptedUpstream,
    *,
    arguments: dict[str, Any],
    field: str,
) -> None:
    async with connect(mode) as client:
        result = await called(client, "system1_decide", arguments)
    assert result.is_error
    assert result.structured_content["error"]["code"] == "invalid_request"
    assert field in result.structured_content["error"]["message"]
    assert one_provider.requests == ()


async def test_health_tells_who_is_up(
    connect: Connect, mode: str, one_provider: ScriptedUpstream
) -> None:
    one_provider.answer(Reply(body={"models": [{"name": "m-1"}]}))
    async with connect(mode) as client:
        health = (await called(client, "system1_health")).structured_content
    assert (health["status"], health["config_errors"]) == ("ok", [])
    assert health["config_file"].endswith("config.toml")
    assert [(probe["name"], probe["role"]) for probe in health["providers"]] == [("up", "primary")]
    assert all(request.method == "GET" for request in one_provider.requests)


async def test_capabilities_carry_the_schemas_and_the_limits(
    connect: Connect, mode: str, one_provider: ScriptedUpstream
) -> None:
    async with connect(mode) as client:
        found = (await called(client, "system1_capabilities")).structured_content
    assert found["request_schema"] == PUBLISHED["request.json"]
    assert found["response_schema"] == PUBLISHED["response.json"]
    assert found["schema_versions"] == ["1"]
    assert found["tools"] == list(OUTPUTS)
    assert (found["chain"], found["chain_source"]) == (["up"], "configured")
    assert found["providers"][0]["capabilities"]["max_options"]
    assert "laya" in {available["dialect"] for available in found["available_providers"]}
    assert one_provider.requests == ()


async def test_an_unknown_tool_is_a_protocol_error(connect: Connect, mode: str) -> None:
    async with connect(mode) as client:
        with pytest.raises(MCPError, match="no tool 'system2'"):
            await client.call_tool("system2", {})


class Failing:
    """A gateway with a fault of our own in it."""

    async def decide(self, request: Mapping[str, Any]) -> dict[str, Any]:
        raise RuntimeError("sk-secret in /home/someone")

    async def health(self) -> dict[str, Any]:
        raise KeyError("sk-secret")

    async def capabilities(self) -> dict[str, Any]:
        raise OSError("sk-secret")


@pytest.mark.parametrize("name", OUTPUTS)
async def test_an_exception_of_ours_never_reaches_the_client(mode: str, name: str) -> None:
    async with Client(build_server(Failing()), mode=mode) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool(name, {"question": "?"})
    assert "sk-secret" not in str(caught.value)
    assert caught.value.code == -32603
