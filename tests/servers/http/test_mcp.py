"""MCP over HTTP: whose call a notification cancels, what cannot be read, and a start that fails."""

import asyncio
import errno
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, cast

import httpx
import pytest
from mcp.server import Server

from gateway_core.http1.head import Head
from gateway_core.servers.http.body import BodySource, RequestBody
from gateway_core.servers.http.exchange import Exchange, open_exchange
from gateway_core.servers.http.mcp_face import McpFace
from gateway_core.testing import Gate, Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
NOUL = {"model": "m", "answers": {"decision": {"type": "noul", "noul": 0.9}}}
CLIENT = {"name": "test", "version": "1"}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}


@pytest.fixture(scope="module")
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as found:
        yield found


@pytest.fixture(scope="module")
def gateway(
    start_once: Callable[..., GatewayProcess], upstream: ScriptedUpstream
) -> GatewayProcess:
    config = f"""
    [decide]
    chain = ["up"]
    [providers.up]
    api_format = "systemone"
    base_url = "{upstream.url}"
    models = ["m"]
    """
    return start_once(config, "--auth", "disabled")


class Agent:
    """A client with a session of its own."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client
        self.headers = dict(ACCEPT)

    async def hello(self) -> "Agent":
        found = await self.post(id=0, method="initialize", params=HELLO)
        self.headers["mcp-session-id"] = found.headers["mcp-session-id"]
        return self

    async def post(self, **message: Any) -> httpx.Response:
        content = {"jsonrpc": "2.0", **message}
        return await self.client.post("/mcp", json=content, headers=self.headers)

    def ask(self, number: int, request_id: str) -> "asyncio.Task[httpx.Response]":
        arguments = {"question": "?", "request_id": request_id}
        params = {"name": "system1_decide", "arguments": arguments}
        return asyncio.create_task(self.post(id=number, method="tools/call", params=params))

    async def cancel(self, number: Any) -> int:
        params = {"requestId": number}
        return (await self.post(method="notifications/cancelled", params=params)).status_code


@pytest.fixture
async def client(gateway: GatewayProcess) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=gateway.url, timeout=60) as found:
        yield found


@pytest.mark.anyio
@pytest.mark.parametrize("spelling", [7, "7"])
async def test_a_cancelled_call_ends_its_request_upstream_and_nobody_elses(
    gateway: GatewayProcess, upstream: ScriptedUpstream, client: httpx.AsyncClient, spelling: Any
) -> None:
    gate, mine, namesake = Gate(), await Agent(client).hello(), await Agent(client).hello()
    nameless = Agent(client)
    upstream.answer(Reply(body=NOUL, gate=gate))
    before, own = len(upstream.requests), f"mine-{spelling!r}"
    cancelled = mine.ask(7, own)
    others = [agent.ask(n, "other") for agent, n in ((namesake, 7), (mine, 8), (nameless, 7))]
    await upstream.received(before + 4)

    assert await nameless.cancel(7) == 202
    assert await mine.cancel(spelling) == 202
    found = await cancelled
    assert (found.status_code, found.json()["error"]["code"]) == (200, -32800)
    assert found.json()["id"] == 7
    gateway.wait_for(rf"\[{own}\] s1gw.decide: cancelled after")
    gate.open()
    for other in others:
        content = (await other).json()["result"]["structuredContent"]
        assert content["status"] == "decided"
    assert "[other] s1gw.decide: cancelled" not in gateway.log
    # It can no longer be cancelled, and its number can be used again.
    assert await mine.cancel(7) == 202
    assert (await mine.ask(7, "again")).json()["result"]


CALL = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"%s","arguments":%s}}'
ARGUMENTS = {
    "half an emoji": ('{"question":"cut \\ud83d"}', "question: holds half"),
    "a key twice": ('{"question":"a","question":"b"}', "'question' occurs twice"),
    "NaN": ('{"question":"a","min_confidence":NaN}', "NaN is not JSON"),
    "deep": ('{"question":"a","context":%s}' % ('{"a":' * 150 + "1" + "}" * 150), "nested more"),
}


@pytest.mark.parametrize(("arguments", "told"), ARGUMENTS.values(), ids=ARGUMENTS.keys())
@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_arguments_that_cannot_be_read_are_an_invalid_request(
    gateway: GatewayProcess, upstream: ScriptedUpstream, arguments: str, told: str, version: str
) -> None:
    asked = len(upstream.requests)
    names = ("protocolVersion", "clientInfo", "clientCapabilities")
    values = (version, CLIENT, {})
    meta = {f"io.modelcontextprotocol/{n}": v for n, v in zip(names, values, strict=True)}
    modern = {"mcp-method": "tools/call", "mcp-name": "system1_decide"}
    text = CALL % ("system1_decide", arguments)
    headers = {**ACCEPT, "mcp-protocol-version": version}
    if version == "2026-07-28":
        headers |= modern
        text = text.replace('"params":{', f'"params":{{"_meta":{json.dumps(meta)},')
    found = httpx.post(f"{gateway.url}/mcp", content=text, headers=headers, timeout=30)
    reply = found.json()["result"]["structuredContent"]
    assert (found.json()["id"], reply["error"]["code"]) == (7, "invalid_request")
    assert told in reply["error"]["message"]
    assert len(upstream.requests) == asked


UNREADABLE = {
    "a batch": ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
    "no JSON": ("never-log-this", -32700, None),
    "nothing": ("", -32700, None),
    "UTF-16": ('{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"), -32700, None),
    "no method": ('{"jsonrpc":"2.0","id":1}', -32600, 1),
    "a list as params": ('{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32602, 1),
}


@pytest.mark.parametrize(
    ("content", "code", "identity"), UNREADABLE.values(), ids=UNREADABLE.keys()
)
def test_what_is_no_message_is_told_in_short_words_of_our_own(
    gateway: GatewayProcess, content: bytes | str, code: int, identity: Any
) -> None:
    found = httpx.post(f"{gateway.url}/mcp", content=content, headers=ACCEPT, timeout=30)
    error = found.json()["error"]
    assert (found.status_code, error["code"], found.json()["id"]) == (400, code, identity)
    assert len(error["message"]) < 80
    assert "never-log-this" not in found.text + gateway.log


@pytest.mark.parametrize("host", ["192.0.2.7", "192.0.2.7:8080", "[2001:db8::1]:8080"])
def test_an_address_that_the_gateway_listens_on_is_taken_as_host(
    gateway: GatewayProcess, host: str
) -> None:
    content = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {**ACCEPT, "host": host}
    found = httpx.post(f"{gateway.url}/mcp", json=content, headers=headers, timeout=30)
    assert (found.status_code, found.json().get("result")) == (200, {})


def ping() -> Exchange:
    headers = {name.encode(): value.encode() for name, value in ACCEPT.items()}
    head = Head("POST", "/mcp", headers, keep_alive=True)
    return open_exchange(head, "127.0.0.1", RequestBody(cast("BodySource", None)))


@pytest.mark.anyio
@pytest.mark.parametrize(
    "error", [OSError(errno.EMFILE, "too many open files"), MemoryError(), ImportError("x")]
)
async def test_a_start_that_fails_is_told_to_all_who_wait_and_tried_again(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    failures = [error]

    def build() -> Server[Any]:
        if failures:
            raise failures.pop()
        return Server("test")

    face = McpFace(build, ())
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    refused = await asyncio.gather(*(face.answer(ping(), body) for _ in range(3)))
    assert [reply.status for reply in refused] == [503] * 3
    assert type(error).__name__ in caplog.text
    assert (await face.answer(ping(), body)).status == 200
    await face.aclose()


@pytest.mark.anyio
async def test_a_server_that_ends_while_it_starts_is_told_too() -> None:
    failing = Server("test", lifespan=_broken)  # type: ignore[arg-type]
    face = McpFace(lambda: failing, ())
    async with asyncio.timeout(30):
        with pytest.raises(RuntimeError, match="no lifespan"):
            await face.answer(ping(), b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
        await face.aclose()


def _broken(_: object) -> Any:
    raise RuntimeError("no lifespan")
