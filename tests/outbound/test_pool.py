"""Connections: reuse, the races around it, and cancellation."""

import asyncio
import gc
import socket
import sys
from collections.abc import Callable
from contextlib import closing

import pytest
import uvloop

from gateway_core import Endpoint
from gateway_core.errors import ProviderUnreachable
from gateway_core.outbound import Outbound
from gateway_core.outbound.dial import system_dial
from gateway_core.outbound.pool import Pool

pytestmark = pytest.mark.anyio
BODY = b"{}"
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"


async def test_one_connection_carries_many_requests(serve, sender) -> None:
    async with serve() as server:
        for _ in range(20):
            await sender.send("POST", server.url(), headers={}, body=BODY)
    assert server.connections == 1
    assert len(server.requests) == 20


async def test_128_at_once_share_128_connections(serve, sender) -> None:
    async with serve() as server:

        async def ask(number: int) -> None:
            for turn in range(10):
                body = b"%d/%d" % (number, turn)
                await sender.send("POST", server.url(), headers={}, body=body)

        await asyncio.gather(*map(ask, range(128)))
    assert len(server.requests) == 1280
    assert server.connections <= 128


async def test_replies_never_swap_places(serve, sender) -> None:
    async def echo(request, writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(request.body))
        writer.write(request.body)

    async with serve(echo) as server:

        async def ask(number: int) -> None:
            body = b"%d" % number
            reply = await sender.send("POST", server.url(), headers={}, body=body)
            assert reply.body == body

        for _ in range(5):
            await asyncio.gather(*map(ask, range(50)))


async def test_a_connection_closed_while_idle_is_not_reused(serve, sender) -> None:
    async def answer_and_close(request, writer) -> None:
        writer.write(OK)
        writer.close()

    async with serve(answer_and_close) as server:
        for _ in range(10):
            await sender.send("POST", server.url(), headers={}, body=BODY)
            # Closed as the kernel sees it, though the loop may not have looked yet.
            await server.closed.wait()
            server.closed.clear()
    assert server.connections == 10


async def test_a_request_is_never_written_twice(serve, sender) -> None:
    async def first_only(request, writer) -> None:
        if len(server.requests) == 1:
            writer.write(OK)
        else:
            writer.transport.abort()

    async with serve(first_only) as server:
        await sender.send("POST", server.url(), headers={}, body=BODY)
        with pytest.raises(ProviderUnreachable):
            await sender.send("POST", server.url(), headers={}, body=BODY)
    assert len(server.requests) == 2
    assert server.connections == 1


async def test_cancellation_closes_the_connection_and_leaves_the_pool_usable(serve, sender) -> None:
    async def hold_the_first(request, writer) -> None:
        if len(server.requests) == 1:
            await request.gone()
            gone.set()
            writer.close()
        else:
            writer.write(OK)

    gone = asyncio.Event()
    async with serve(hold_the_first) as server:
        task = asyncio.create_task(sender.send("POST", server.url(), headers={}, body=BODY))
        await server.arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(10):
            await gone.wait()
        await sender.send("POST", server.url(), headers={}, body=BODY)
    assert server.connections == 2


async def test_cancelling_as_the_reply_arrives_spares_the_connections_next_user(
    serve, outbound, sender
) -> None:
    async def answer_the_second(request, writer) -> None:
        if len(server.requests) == 2:
            writer.write(OK)

    async with serve(answer_the_second) as server:
        task = asyncio.create_task(sender.send("POST", server.url(), headers={}, body=BODY))
        await server.arrived.wait()
        (connection,) = outbound._pool._open
        # The reply is read and the caller cancelled before the caller gets a turn.
        connection.get_buffer(-1)[: len(OK)] = OK
        connection.buffer_updated(len(OK))
        task.cancel()
        other = asyncio.create_task(sender.send("POST", server.url(), headers={}, body=BODY))
        assert (await other).body == b"{}"
        assert task.cancelled()
    assert server.connections == 1


async def test_a_connection_that_closed_before_it_was_used_is_unreachable(serve) -> None:
    async def dial(protocol, *where) -> None:
        await system_dial(protocol, *where)
        protocol.abort()
        for _ in range(3):
            await asyncio.sleep(0)

    outbound = Outbound({}, dial=dial)
    async with serve() as server:
        sender = outbound.sender(Endpoint())
        with pytest.raises(ProviderUnreachable):
            await sender.send("POST", server.url(), headers={}, body=BODY)
    await outbound.aclose()


async def test_an_idle_connection_is_closed_after_its_time(serve, outbound, sender) -> None:
    outbound._pool._idle_s = 0.03
    async with serve() as server, asyncio.timeout(10):
        await sender.send("POST", server.url(), headers={}, body=BODY)
        await server.closed.wait()


@pytest.mark.parametrize(
    ("hint", "connections"),
    [("timeout=1", 2), ("timeout=0", 2), ("timeout=5, max=100", 1), ("max=100", 1), ("=", 1)],
)
async def test_a_keep_alive_hint_shortens_the_idle_time(serve, sender, hint, connections) -> None:
    reply = f"HTTP/1.1 200 OK\r\nkeep-alive: {hint}\r\ncontent-length: 2\r\n\r\n{{}}".encode()
    async with serve(reply) as server:
        await sender.send("POST", server.url(), headers={}, body=BODY)
        await sender.send("POST", server.url(), headers={}, body=BODY)
    assert server.connections == connections


async def test_closing_ends_the_requests_under_way(serve, outbound, sender) -> None:
    async def silent(request, writer) -> None:
        await request.gone()

    async with serve(silent) as server:
        task = asyncio.create_task(sender.send("POST", server.url(), headers={}, body=BODY))
        await server.arrived.wait()
        await outbound.aclose()
        with pytest.raises(ProviderUnreachable):
            await task


async def test_an_idle_connection_keeps_no_body_in_memory(serve, sender) -> None:
    body = bytes(1_000_000)
    before = sys.getrefcount(body)
    async with serve() as server:
        await sender.send("POST", server.url(), headers={}, body=body)
        gc.collect()
        assert sys.getrefcount(body) == before


async def test_a_pool_that_was_never_used_closes() -> None:
    await Pool().aclose()


async def test_no_connection_is_unreachable(sender, unused_port) -> None:
    with pytest.raises(ProviderUnreachable, match="no connection could be made") as caught:
        await sender.send("POST", f"http://127.0.0.1:{unused_port}/", headers={}, body=BODY)
    assert "127.0.0.1" not in str(caught.value)


async def test_a_name_with_two_addresses_is_tried_on_both(serve, sender) -> None:
    async with serve() as server:
        url = server.url(host="localhost")
        await sender.send("POST", url, headers={}, body=BODY)
    assert server.connections == 1


@pytest.mark.parametrize("new_loop", [uvloop.new_event_loop, asyncio.new_event_loop])
def test_a_connection_given_up_while_it_is_made_does_not_keep_the_pool_from_closing(
    new_loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def give_up(url: str, steps: int) -> None:
        outbound = Outbound({})
        sending = outbound.sender(Endpoint()).send("POST", url, headers={}, body=BODY)
        request = asyncio.create_task(sending)
        for _ in range(steps):
            await asyncio.sleep(0)
        request.cancel()
        await asyncio.wait([request])
        async with asyncio.timeout(20):
            await outbound.aclose()

    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with closing(listener), asyncio.Runner(loop_factory=new_loop) as runner:
        for steps in range(20):
            runner.run(give_up(url, steps))


async def test_a_connection_whose_request_is_not_all_written_carries_no_other() -> None:
    loop = asyncio.get_running_loop()
    listener = socket.socket()
    # So little room on both sides that the rest of the body waits in the process.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    listener.setblocking(False)

    async def dial(protocol, host, port, tls, name) -> None:
        connected = socket.socket()
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        connected.connect((host, port))
        connected.setblocking(False)
        await loop.create_connection(lambda: protocol, sock=connected)

    async def answer_before_reading() -> socket.socket:
        accepted, _ = await loop.sock_accept(listener)
        await loop.sock_recv(accepted, 16)
        await loop.sock_sendall(accepted, OK)
        return accepted

    outbound = Outbound({}, dial=dial)
    sender = outbound.sender(Endpoint())
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    with closing(listener):
        async with asyncio.timeout(20):
            for _ in range(2):
                answering = asyncio.create_task(answer_before_reading())
                await sender.send("POST", url, headers={}, body=b"a" * 200_000)
                (await answering).close()
    await outbound.aclose()
