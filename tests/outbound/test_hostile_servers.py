"""Servers that do not read what they are sent, or speak when nobody asked, over real sockets."""

import asyncio

import pytest

from gateway_core.errors import ProviderError, ProviderUnreachable

pytestmark = pytest.mark.anyio
REPLY = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"


async def ask(server, sender, body: bytes = b"{}"):
    return await sender.send("POST", server.url(), headers={}, body=body)


@pytest.mark.parametrize("size", [1, 64 * 1024, 64 * 1024 + 1, 1_000_000, 5_000_000])
async def test_a_body_of_any_size_arrives_whole_and_the_connection_is_kept(
    serve, sender, size
) -> None:
    body = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    async with serve() as server:
        await ask(server, sender, body=body)
        assert server.requests[-1].body == body
        await ask(server, sender, body=body)
    assert server.connections == 1


async def test_a_reply_that_comes_before_the_body_is_sent_is_heard(serve, sender) -> None:
    async def refuse(request, writer) -> None:
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\n{}")
        await asyncio.wait_for(request.gone(), 20)

    async with serve(refuse) as server:
        for _ in range(2):
            with pytest.raises(ProviderError) as caught:
                await sender.send(
                    "POST", server.url(), headers={"x-early": "1"}, body=b"a" * 30_000_000
                )
            assert caught.value.status == 413
    assert server.connections == 2


async def test_a_server_that_does_not_read_is_not_sent_the_body_into_memory(
    serve, outbound, sender
) -> None:
    async def idle(request, writer) -> None:
        await enough.wait()

    enough = asyncio.Event()
    async with serve(idle) as server:
        task = asyncio.create_task(
            sender.send("POST", server.url(), headers={"x-early": "1"}, body=b"a" * 30_000_000)
        )
        await server.arrived.wait()
        (connection,) = outbound._pool._open
        waiting = connection._transport.get_write_buffer_size()
        task.cancel()
        await asyncio.wait([task])
        enough.set()
    assert waiting <= 1_000_000


async def test_a_server_that_stops_reading_and_closes_its_side_is_noticed(serve, sender) -> None:
    async def half_close(request, writer) -> None:
        writer.write_eof()
        await gone.wait()

    gone = asyncio.Event()
    async with serve(half_close) as server:
        with pytest.raises(ProviderUnreachable):
            await sender.send(
                "POST", server.url(), headers={"x-early": "1"}, body=b"a" * 30_000_000
            )
        gone.set()


async def test_a_server_that_speaks_first_is_not_trusted(listen, sender) -> None:
    async def speak(reader, writer) -> None:
        writer.write(REPLY + b"{}")
        await reader.read()
        writer.close()

    async with listen(speak) as port:
        url = f"http://127.0.0.1:{port}/"
        replies = [sender.send("POST", url, headers={}, body=b"{}") for _ in range(3)]
        for outcome in await asyncio.gather(*replies, return_exceptions=True):
            # Either it was noticed in time, or the answer is the one it gave.
            assert isinstance(outcome, ProviderUnreachable) or outcome.body == b"{}"


async def test_what_arrives_while_idle_closes_the_connection(serve, sender) -> None:
    async with serve(REPLY + b"{}") as server:
        await ask(server, sender)
        server.writers[0].write(REPLY + b'["stale"]')
        await server.writers[0].drain()
        assert (await ask(server, sender)).body == b"{}"
    assert server.connections == 2
