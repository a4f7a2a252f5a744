"""Every failure names its cause, and the status that the upstream gave, if it gave one."""

import asyncio
import gzip
import socket

import pytest

from gateway_core import Endpoint
from gateway_core.causes import Cause
from gateway_core.errors import ProviderError
from gateway_core.hooks import timeout_cause
from gateway_core.outbound import DestinationPolicy, Outbound
from gateway_core.time_limits import TimeLimit

pytestmark = pytest.mark.anyio
OK = b"HTTP/1.1 200 OK\r\n"
PACKED = gzip.compress(b"{}")


def coded(coding: bytes, body: bytes) -> bytes:
    head = b"content-encoding: %b\r\ncontent-length: %d\r\n\r\n" % (coding, len(body))
    return OK + head + body


async def failure(sender, url: str) -> tuple[Cause | None, int | None]:
    with pytest.raises(ProviderError) as caught:
        await sender.send("POST", url, headers={}, body=b"{}")
    return caught.value.cause, caught.value.status


@pytest.mark.parametrize(
    ("reply", "cause", "status"),
    [
        (b"SSH-2.0\r\n\r\n", Cause.NOT_HTTP, None),
        (OK + b"transfer-encoding: gzip, chunked\r\n\r\n", Cause.NOT_HTTP, None),
        (OK + b"x: %b\r\n\r\n" % (b"y" * 70_000), Cause.TOO_LARGE, None),
        (OK + b"content-length: 99999999\r\n\r\n", Cause.TOO_LARGE, 200),
        (coded(b"br", b"{}"), Cause.UNKNOWN_ENCODING, 200),
        (coded(b"gzip", b"{}"), Cause.UNDECODABLE, 200),
        (coded(b"gzip", PACKED[:-3]), Cause.CUT_SHORT, 200),
        (coded(b"gzip,gzip,gzip,gzip", PACKED), Cause.UNDECODABLE, 200),
        (b"HTTP/1.1 302 Found\r\ncontent-length: 0\r\n\r\n", Cause.REDIRECT, 302),
        (b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n", Cause.STATUS, 500),
        (b"HTTP/1.1 408 No\r\ncontent-length: 0\r\n\r\n", Cause.STATUS, 408),
    ],
    ids=range(11),
)
async def test_a_bad_reply_has_its_cause(serve, sender, reply, cause, status) -> None:
    async with serve(reply) as server:
        assert await failure(sender, server.url()) == (cause, status)


@pytest.mark.parametrize(
    ("said", "cause", "status"),
    [
        (b"", Cause.CLOSED_EARLY, None),
        (b"HTTP/1.1 2", Cause.CLOSED_EARLY, None),
        (OK + b"content-length: 500\r\n\r\n{", Cause.CUT_SHORT, 200),
        (OK + b"transfer-encoding: chunked\r\n\r\n5\r\n{", Cause.CUT_SHORT, 200),
    ],
)
async def test_a_reply_that_ends_early_has_its_cause(serve, sender, said, cause, status) -> None:
    async def leave(_, writer) -> None:
        writer.write(said)
        writer.close()

    async with serve(leave) as server:
        assert await failure(sender, server.url()) == (cause, status)


async def test_no_connection_has_its_cause(serve, sender, unused_port, server_tls) -> None:
    refused = await failure(sender, f"http://127.0.0.1:{unused_port}/")
    assert refused == (Cause.CONNECT_REFUSED, None)
    async with serve(tls=server_tls) as server:
        assert await failure(sender, server.url()) == (Cause.TLS, None)


async def test_a_name_that_cannot_be_looked_up_has_its_cause() -> None:
    async def resolve(host, port):
        raise socket.gaierror

    async def dial(protocol, host, port, tls, name):
        raise socket.gaierror

    outbound = Outbound({}, resolve=resolve, dial=dial)
    for policy in (None, DestinationPolicy()):
        sender = outbound.sender(Endpoint(), policy)
        assert await failure(sender, "http://nowhere.example/") == (Cause.DNS, None)


async def test_a_proxy_that_fails_has_its_cause(unused_port) -> None:
    for proxy in (f"http://127.0.0.1:{unused_port}", "socks5://h:1"):
        sender = Outbound({"ALL_PROXY": proxy}).sender(Endpoint())
        for url in ("http://provider.example/", "https://provider.example/"):
            assert await failure(sender, url) == (Cause.PROXY, None)


@pytest.mark.parametrize("connecting", [True, False])
async def test_a_time_out_says_what_the_time_was_spent_on(serve, sender, connecting) -> None:
    async def hang(*_) -> None:
        await asyncio.get_running_loop().create_future()

    async def silent(request, _) -> None:
        await request.gone()

    async with serve(silent) as server:
        if connecting:
            sender = Outbound({}, dial=hang).sender(Endpoint())
        with pytest.raises(TimeoutError) as caught, TimeLimit(0.05):
            await sender.send("POST", server.url(), headers={}, body=b"{}")
    expected = Cause.CONNECT_TIMEOUT if connecting else Cause.READ_TIMEOUT
    assert timeout_cause(caught.value) is expected
