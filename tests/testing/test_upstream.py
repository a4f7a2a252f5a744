"""The scripted upstream, through httpx."""

import asyncio
from collections.abc import Iterator

import httpx
import pytest

from gateway_core.testing import Gate, Raw, Received, Reply, ScriptedUpstream


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as server:
        yield server


def test_it_records_the_request_and_answers_from_the_script(upstream: ScriptedUpstream) -> None:
    upstream.answer(Reply(status=418, body={"a": "ä"}, headers={"x-one": "1"}))
    reply = httpx.post(f"{upstream.url}/v1/x?y=1", content=b'{"q": 1}', headers={"X-Key": "k"})
    assert (reply.status_code, reply.json(), reply.headers["x-one"]) == (418, {"a": "ä"}, "1")
    (received,) = upstream.requests
    assert (received.method, received.path, received.body) == ("POST", "/v1/x?y=1", b'{"q": 1}')
    assert received.headers["x-key"] == "k"
    assert received.json() == {"q": 1}


def test_queued_answers_come_before_the_standing_one(upstream: ScriptedUpstream) -> None:
    upstream.answer(Reply(body="standing"))
    upstream.queue(Reply(body="first"), lambda received: Reply(body=received.path))
    with httpx.Client() as client:
        found = [client.get(f"{upstream.url}/p").text for _ in range(3)]
    assert found == ["first", "/p", "standing"]
    assert upstream.connections == 1


def test_a_request_that_was_not_scripted_is_told_so(upstream: ScriptedUpstream) -> None:
    assert httpx.get(upstream.url).status_code == 599


def test_a_chunked_request_body_is_put_together(upstream: ScriptedUpstream) -> None:
    upstream.answer(Reply(body="ok"))
    httpx.post(upstream.url, content=iter([b"ab", b"cd"]))
    assert upstream.requests[0].body == b"abcd"


@pytest.mark.parametrize("reply", [Reply(status=204), Reply(status=200, body="x")])
def test_replies_without_a_body_keep_the_connection(
    upstream: ScriptedUpstream, reply: Reply
) -> None:
    upstream.answer(reply)
    with httpx.Client() as client:
        statuses = [client.request("HEAD", upstream.url).status_code for _ in range(2)]
    assert statuses == [reply.status] * 2
    assert upstream.connections == 1


def test_a_raw_answer_may_break_off(upstream: ScriptedUpstream) -> None:
    upstream.answer(Raw(data=b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"))
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.get(upstream.url)


def test_a_reply_may_close_its_connection_unannounced(upstream: ScriptedUpstream) -> None:
    upstream.answer(Reply(body="x", close=True))
    with httpx.Client() as client:
        assert client.get(upstream.url).text == "x"


@pytest.mark.anyio
async def test_a_gate_holds_replies_until_it_is_opened(upstream: ScriptedUpstream) -> None:
    gate = Gate()
    upstream.answer(Reply(body="late", gate=gate))
    async with httpx.AsyncClient() as client:
        calls = [asyncio.create_task(client.get(upstream.url)) for _ in range(2)]
        await upstream.received(2)
        assert not any(call.done() for call in calls)
        gate.open()
        assert [(await call).text for call in calls] == ["late", "late"]


@pytest.mark.anyio
@pytest.mark.parametrize("held", [Reply(gate=Gate()), Raw(data=b"HTTP/1.1 200 OK\r\n", hold=True)])
async def test_a_client_that_leaves_is_seen(upstream: ScriptedUpstream, held: Reply | Raw) -> None:
    upstream.answer(held)
    async with httpx.AsyncClient() as client:
        call = asyncio.create_task(client.get(f"{upstream.url}/gone"))
        await upstream.received()
        call.cancel()
        (left,) = await upstream.disconnected()
    assert left.path == "/gone"


@pytest.mark.anyio
async def test_an_async_script_may_wait(upstream: ScriptedUpstream) -> None:
    async def script(received: Received) -> Reply:
        await asyncio.sleep(0)
        return Reply(body=received.method)

    upstream.answer(script)
    async with httpx.AsyncClient() as client:
        assert (await client.put(upstream.url)).text == "PUT"


def test_idle_connections_can_be_closed_under_the_client(upstream: ScriptedUpstream) -> None:
    upstream.answer(Reply(body="x"))
    with httpx.Client() as client:
        client.get(upstream.url)
        upstream.close_idle()
        client.get(upstream.url)
    assert upstream.connections == 2
