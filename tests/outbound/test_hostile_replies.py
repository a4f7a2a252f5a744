"""Servers that send anything but a plain reply, each over a real socket."""

import socket
import struct

import pytest

from gateway_core.errors import MalformedResponse, ProviderError, ProviderUnreachable, RateLimited

pytestmark = pytest.mark.anyio
CAP = 10 * 1024 * 1024
HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"
LENGTH = HEAD + b"content-length: 2\r\n\r\n"


async def ask(server, sender, method: str = "POST", body: bytes = b"{}"):
    return await sender.send(method, server.url(), headers={}, body=body)


@pytest.mark.parametrize(
    ("reply", "body"),
    [
        (CHUNKED + b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n", b"{}"),
        (CHUNKED + b"2;name=value\r\n{}\r\n0\r\ntrailer: x\r\n\r\n", b"{}"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + LENGTH + b"{}", b"{}"),
        (b"HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n" * 3 + LENGTH + b"{}", b"{}"),
        (HEAD + b"content-length: 0\r\n\r\n", b""),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (HEAD + b"X-Empty:\r\nContent-Length: 2\r\n\r\n{}", b"{}"),
    ],
)
async def test_a_reply_in_any_framing_is_read_and_the_connection_kept(
    serve, sender, reply, body
) -> None:
    async with serve(reply) as server:
        assert (await ask(server, sender)).body == body
        assert (await ask(server, sender)).body == body
    assert server.connections == 1


@pytest.mark.parametrize(
    ("reply", "body"),
    [
        (HEAD + b"connection: close\r\ncontent-length: 2\r\n\r\n{}", b"{}"),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}", b"{}"),
        (LENGTH + b"{}garbage", b"{}"),
        (LENGTH + b"{}" + LENGTH + b"[]", b"{}"),
        (b"HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello", b""),
        (CHUNKED + b"2\r\n{}\r\n0\r\n\r\nHTTP/1.1 200", b"{}"),
    ],
)
async def test_a_reply_that_ends_the_connection_is_read_and_the_connection_dropped(
    serve, sender, reply, body
) -> None:
    async with serve(reply) as server:
        assert (await ask(server, sender)).body == body
        assert (await ask(server, sender)).body == body
    assert server.connections == 2


@pytest.mark.parametrize(
    "reply",
    [
        HEAD + b"content-length: 2\r\ncontent-length: 2\r\n\r\n{}",
        HEAD + b"content-length: 2\r\ncontent-length: 3\r\n\r\n{}",
        HEAD + b"content-length: 2, 2\r\n\r\n{}",
        HEAD + b"content-length: -2\r\n\r\n{}",
        HEAD + b"content-length: +2\r\n\r\n{}",
        HEAD + b"content-length: 99999999999999999999\r\n\r\n{}",
        HEAD + b"content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        HEAD + b"transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        HEAD + b"transfer-encoding: gzip\r\n\r\n{}",
        HEAD + b"transfer-encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        HEAD + b"transfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"x: 1\r\n  folded\r\ncontent-length: 2\r\n\r\n{}",
        HEAD + b"x : 1\r\ncontent-length: 2\r\n\r\n{}",
        HEAD + b"x: \0\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\ncontent-length: 2\n\n{}",
        b"HTTP/1.1 99 No\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 1000 No\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n{}",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n{}",
        b"<html>hello</html>",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\0" * 100,
        CHUNKED + b"-1\r\n{}",
        CHUNKED + b"g\r\n{}",
        CHUNKED + b"fffffffffffffffff\r\n{}",
        CHUNKED + b"2\n{}\n0\n\n",
        CHUNKED + b"2\r\n{}0\r\n\r\n",
        HEAD + b"x: " + b"a" * 70_000 + b"\r\ncontent-length: 2\r\n\r\n{}",
        HEAD + b"x" * 70_000,
        HEAD + b"x: y\r\n" * 300 + b"content-length: 2\r\n\r\n{}",
        HEAD + b"".join(b"x%d: y\r\n" % i for i in range(300)) + b"content-length: 2\r\n\r\n{}",
        b"HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n" * 3000 + LENGTH + b"{}",
        HEAD + b"content-length: %d\r\n\r\n" % (CAP + 1),
        CHUNKED + (b"10000\r\n" + b"a" * 65536 + b"\r\n") * 161,
        CHUNKED + b"1;" + b"e" * 1_200_000 + b"\r\na\r\n",
        CHUNKED + b"1\r\na\r\n0\r\nt: " + b"e" * 1_200_000,
    ],
    ids=range(36),
)
async def test_what_is_no_sound_reply_is_refused_and_the_connection_dropped(
    serve, sender, reply
) -> None:
    async def misbehave(request, writer) -> None:
        if len(server.requests) == 1:
            writer.write(reply)
        else:
            writer.write(LENGTH + b"{}")

    async with serve(misbehave) as server:
        with pytest.raises(MalformedResponse) as caught:
            await ask(server, sender)
        assert "127.0.0.1" not in str(caught.value)
        assert (await ask(server, sender)).body == b"{}"
    assert server.connections == 2


def closing(reply: bytes):
    async def answer(request, writer) -> None:
        writer.write(reply)
        writer.close()

    return answer


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (b"", ProviderUnreachable),
        (b"HTTP/1.1 200", ProviderUnreachable),
        (HEAD + b"content-length: 2\r\n", ProviderUnreachable),
        (b"HTTP/1.1 100 Continue\r\n\r\n", ProviderUnreachable),
        (LENGTH + b"{", MalformedResponse),
        (CHUNKED, MalformedResponse),
        (CHUNKED + b"2\r\n{}\r\n", MalformedResponse),
        (CHUNKED + b"2\r\n{}\r\n0\r\n", MalformedResponse),
        (b"HTTP/1.1 429 Slow\r\nretry-after: 7\r\ncontent-length: 9\r\n\r\n{", RateLimited),
        (b"HTTP/1.1 429 Slow\r\ntransfer-encoding: chunked\r\n\r\nzz", RateLimited),
    ],
)
async def test_a_reply_that_ends_early_says_what_was_missing(serve, sender, reply, error) -> None:
    async with serve(closing(reply)) as server:
        with pytest.raises(ProviderError) as caught:
            await ask(server, sender)
    assert type(caught.value) is error


async def test_a_reset_in_a_reply_without_length_is_not_its_end(serve, sender) -> None:
    async def reset(request, writer) -> None:
        writer.write(HEAD + b"\r\n{}")
        await writer.drain()
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()

    async with serve(reset) as server:
        with pytest.raises(MalformedResponse):
            await ask(server, sender)


async def test_a_reply_without_length_ends_with_the_connection(serve, sender) -> None:
    async with serve(closing(HEAD + b"\r\n" + b"a" * 1_000_000)) as server:
        assert len((await ask(server, sender)).body) == 1_000_000
        assert len((await ask(server, sender)).body) == 1_000_000
    assert server.connections == 2


async def test_an_answer_to_head_has_no_body_whatever_its_length_says(serve, sender) -> None:
    async with serve(HEAD + b"content-length: 500\r\n\r\n") as server:
        for _ in range(2):
            reply = await ask(server, sender, "HEAD", b"")
            assert (reply.body, reply.headers["content-length"]) == (b"", "500")


async def test_the_largest_reply_comes_through_and_one_byte_more_does_not(serve, sender) -> None:
    async def answer(request, writer) -> None:
        size = CAP + len(request.body)
        for start in range(0, size, 1 << 20):
            piece = min(1 << 20, size - start)
            writer.write(
                (CHUNKED if start == 0 else b"") + b"%x\r\n" % piece + b"a" * piece + b"\r\n"
            )
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    async with serve(answer) as server:
        assert len((await ask(server, sender, body=b"")).body) == CAP
        with pytest.raises(MalformedResponse, match="10 MiB"):
            await ask(server, sender, body=b"x")


async def test_trailers_change_no_header(serve, sender) -> None:
    trailers = b"2\r\n{}\r\n0\r\ncontent-encoding: gzip\r\nx-kept: no\r\n\r\n"
    reply = CHUNKED[:-2] + b"x-kept: yes\r\n\r\n" + trailers
    async with serve(reply) as server:
        answer = await ask(server, sender)
    assert (answer.body, answer.headers["x-kept"]) == (b"{}", "yes")


async def test_repeated_headers_are_joined(serve, sender) -> None:
    async with serve(HEAD + b"A: 1\r\na: 2\r\ncontent-length: 2\r\n\r\n{}") as server:
        assert (await ask(server, sender)).headers["a"] == "1, 2"
