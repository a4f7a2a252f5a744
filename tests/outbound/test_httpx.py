"""The ``httpx`` client over the same way out."""

import asyncio
import gzip

import httpx
import pytest

from gateway_core import Endpoint
from gateway_core.errors import (
    DestinationBlocked,
    MalformedResponse,
    ProviderTimeout,
    ProviderUnreachable,
)
from gateway_core.outbound import DestinationPolicy

pytestmark = pytest.mark.anyio


async def test_it_sends_and_reads_like_any_httpx_client(serve, sender) -> None:
    async with serve() as server, sender.client() as client:
        for _ in range(3):
            reply = await client.post(server.url(), json={"a": 1}, headers={"x-one": "1"})
        assert (reply.status_code, reply.json()) == (200, {})
        assert reply.headers["content-type"] == "application/json"
    request = server.requests[-1]
    assert (request.body, request.headers["x-one"]) == (b'{"a":1}', "1")
    assert request.headers["user-agent"].startswith("s1gw/")
    assert [name.lower() for name in request.headers].count("content-length") == 1
    assert server.connections == 1


async def test_an_encoded_reply_is_decoded_once(serve, sender) -> None:
    body = gzip.compress(b'{"a": 1}')
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(body)
    async with serve(head + body) as server, sender.client() as client:
        assert (await client.get(server.url())).json() == {"a": 1}


async def test_a_stream_a_form_and_a_head_request_work(serve, sender) -> None:
    async def pieces():
        yield b"ab"
        yield b"cd"

    async with serve() as server, sender.client() as client:
        await client.post(server.url(), content=pieces())
        await client.post(server.url(), files={"request": b"{}"})
        assert (await client.head(server.url())).content == b""
    assert server.requests[0].body == b"abcd"
    assert server.requests[0].headers["content-length"] == "4"
    assert b'name="request"' in server.requests[1].body


@pytest.mark.parametrize("status", [302, 401, 503])
async def test_a_status_is_the_plugins_to_judge(serve, sender, status) -> None:
    reply = f"HTTP/1.1 {status} X\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"
    async with serve(reply.encode()) as server, sender.client() as client:
        assert (await client.get(server.url())).status_code == status


async def test_a_client_keeps_to_the_destination_policy(serve, outbound) -> None:
    client = outbound.sender(Endpoint(), DestinationPolicy()).client()
    async with serve() as server, client:
        with pytest.raises(DestinationBlocked):
            await client.get(server.url())
    assert server.connections == 0


async def test_a_client_reads_no_more_than_the_cap(serve, sender) -> None:
    reply = b"HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n"
    async with serve(reply) as server, sender.client() as client:
        with pytest.raises(MalformedResponse):
            await client.get(server.url())


async def test_it_reads_no_proxy_of_its_own(serve, outbound, monkeypatch, unused_port) -> None:
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{unused_port}")
    async with serve() as server, outbound.sender(Endpoint()).client() as client:
        assert (await client.get(server.url(host="0.0.0.0"))).status_code == 200


async def test_no_connection_is_unreachable(sender, unused_port) -> None:
    async with sender.client() as client:
        with pytest.raises(ProviderUnreachable):
            await client.get(f"http://127.0.0.1:{unused_port}/")


async def test_the_clients_own_timeout_counts(serve, sender) -> None:
    async def silent(request, writer) -> None:
        await request.gone()

    async with serve(silent) as server, sender.client() as client:
        with pytest.raises(ProviderTimeout):
            await client.get(server.url(), timeout=0.05)


async def test_a_client_begins_with_the_endpoints_limit(serve, outbound) -> None:
    async def silent(request, writer) -> None:
        await request.gone()

    client = outbound.sender(Endpoint(timeout_s=0.05)).client()
    async with serve(silent) as server, client:
        with pytest.raises(ProviderTimeout, match=r"0\.05 s"):
            await client.get(server.url())


async def test_cancellation_closes_the_connection(serve, sender) -> None:
    async def silent(request, writer) -> None:
        await request.gone()
        gone.set()

    gone = asyncio.Event()
    async with serve(silent) as server, sender.client() as client, asyncio.timeout(20):
        task = asyncio.create_task(client.get(server.url()))
        await server.arrived.wait()
        task.cancel()
        await gone.wait()
        await asyncio.wait([task])
        assert task.cancelled()


async def test_closing_the_client_leaves_the_way_out_open(serve, sender) -> None:
    async with serve() as server:
        async with sender.client() as client:
            await client.get(server.url())
        await sender.send("GET", server.url(), headers={}, body=b"")
    assert server.connections == 1
    assert isinstance(client, httpx.AsyncClient)
