"""A real proxy with a password, and proxies that misbehave."""

import asyncio
import subprocess
import sys
from contextlib import asynccontextmanager

import pytest

from gateway_core import Endpoint
from gateway_core.errors import ProviderError, ProviderUnreachable
from gateway_core.outbound import Outbound

pytestmark = pytest.mark.anyio

# Not a loopback address by name, so that it is proxied; where it leads is this machine.
HERE = "0.0.0.0"
PROXY = """
import sys, proxy
options = ["--hostname", "127.0.0.1", "--port", "0", "--num-workers", "1", "--num-acceptors",
           "1", "--log-level", "CRITICAL", "--basic-auth", "user:p@ss/word"]
with proxy.Proxy(options) as running:
    print(running.flags.port, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(scope="module")
def real_proxy():
    """The port of proxy.py, run as a process, which wants a password."""
    with subprocess.Popen(
        [sys.executable, "-c", PROXY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        yield int(process.stdout.readline())
        process.stdin.close()


@asynccontextmanager
async def through(environ):
    outbound = Outbound(environ)
    try:
        yield outbound.sender(Endpoint())
    finally:
        await outbound.aclose()


async def test_plain_http_goes_through_the_proxy_with_its_password(serve, real_proxy) -> None:
    environ = {"HTTP_PROXY": f"http://user:p%40ss%2Fword@127.0.0.1:{real_proxy}"}
    async with serve() as server, through(environ) as sender:
        for _ in range(3):
            reply = await sender.send("POST", server.url(host=HERE), headers={}, body=b"{}")
            assert reply.body == b"{}"
    request = server.requests[0]
    assert request.line == "POST /v1/systemone HTTP/1.1"
    assert "proxy.py" in request.headers["Via"]
    assert "proxy-authorization" not in {name.lower() for name in request.headers}


async def test_https_goes_through_a_tunnel(serve, real_proxy, server_tls, trusting) -> None:
    environ = {"https_proxy": f"user:p%40ss%2Fword@127.0.0.1:{real_proxy}", **trusting}
    body = b"x" * 300_000
    async with serve(tls=server_tls) as server, through(environ) as sender:
        for _ in range(3):
            await sender.send("POST", server.url(host=HERE), headers={}, body=body)
    assert [request.body for request in server.requests] == [body] * 3
    assert server.connections == 1
    assert "Via" not in server.requests[0].headers


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("login", ["", "user:wrong@"])
async def test_a_proxy_that_refuses_the_password_is_told_apart_from_the_provider(
    serve, real_proxy, scheme, login
) -> None:
    environ = {"ALL_PROXY": f"http://{login}127.0.0.1:{real_proxy}"}
    async with serve() as server, through(environ) as sender:
        url = f"{scheme}://{HERE}:{server.port}/"
        with pytest.raises(ProviderUnreachable, match="did not accept its credentials") as caught:
            await sender.send("POST", url, headers={}, body=b"{}")
    assert "wrong" not in str(caught.value)
    assert "127.0.0.1" not in str(caught.value)
    assert server.requests == []


async def test_loopback_is_never_proxied(serve, unused_port) -> None:
    async with serve() as server, through({"ALL_PROXY": f"127.0.0.1:{unused_port}"}) as sender:
        for host in ("127.0.0.1", "localhost"):
            await sender.send("POST", server.url(host=host), headers={}, body=b"{}")


async def test_no_proxy_goes_around(serve, unused_port) -> None:
    environ = {"ALL_PROXY": f"127.0.0.1:{unused_port}", "NO_PROXY": HERE}
    async with serve() as server, through(environ) as sender:
        await sender.send("POST", server.url(host=HERE), headers={}, body=b"{}")


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_that_is_down_is_unreachable(unused_port, scheme) -> None:
    async with through({"ALL_PROXY": f"http://u:secret@127.0.0.1:{unused_port}"}) as sender:
        with pytest.raises(ProviderUnreachable, match="proxy cannot be reached") as caught:
            await sender.send("POST", f"{scheme}://{HERE}/", headers={}, body=b"{}")
    assert "secret" not in str(caught.value)
    assert "127.0.0.1" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["socks5://h:1", "ftp://h", "http://h:99999", "http://", "http://[", "::", "http://h:0", "//"],
)
async def test_a_proxy_that_cannot_be_used_is_not_gone_around(url) -> None:
    async with through({"ALL_PROXY": url}) as sender:
        with pytest.raises(ProviderUnreachable, match="proxy"):
            await sender.send("POST", f"http://{HERE}:1/", headers={}, body=b"{}")


@pytest.fixture
def proxy_that_says(listen):
    """Run a proxy that gives one answer to everything and notes what it was asked."""

    @asynccontextmanager
    async def start(answer: bytes, *, close: bool = False):
        heads = asyncio.Queue()

        async def serve(reader, writer) -> None:
            heads.put_nowait(await reader.readuntil(b"\r\n\r\n"))
            writer.write(answer)
            await writer.drain()
            if not close:
                await reader.read()
                heads.put_nowait(b"closed")

        async with listen(serve) as port, through({"ALL_PROXY": f"127.0.0.1:{port}"}) as sender:
            yield sender, heads

    return start


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", "refused the connection \\(HTTP 403\\)"),
        (b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 3\r\n\r\nabc", "HTTP 502"),
        (b"HTTP/1.1 302 Found\r\nlocation: http://x/\r\n\r\n", "HTTP 302"),
        (b"HTTP/1.1 200 OK\r\n\r\nearly bytes", "does not speak HTTP"),
        (b"HTTP/1.1 2000 OK\r\n\r\n", "does not speak HTTP"),
        (b"SSH-2.0\r\n\r\n", "does not speak HTTP"),
        (b"x" * 70_000, "does not speak HTTP"),
    ],
)
async def test_a_tunnel_that_does_not_open_says_why(proxy_that_says, answer, message) -> None:
    async with proxy_that_says(answer) as (sender, heads), asyncio.timeout(20):
        with pytest.raises(ProviderUnreachable, match=message):
            await sender.send("POST", "https://provider.example/x", headers={}, body=b"{}")
        assert await heads.get() == (
            b"CONNECT provider.example:443 HTTP/1.1\r\nhost: provider.example:443\r\n\r\n"
        )
        assert await heads.get() == b"closed"


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\n\r\n"])
async def test_a_proxy_that_closes_is_unreachable(proxy_that_says, answer) -> None:
    async with proxy_that_says(answer, close=True) as (sender, _):
        with pytest.raises(ProviderUnreachable):
            await sender.send("POST", "https://provider.example/x", headers={}, body=b"{}")


async def test_cancellation_while_the_tunnel_opens_closes_it(proxy_that_says) -> None:
    async with proxy_that_says(b"") as (sender, heads), asyncio.timeout(20):
        sending = sender.send("POST", "https://provider.example/", headers={}, body=b"{}")
        task = asyncio.create_task(sending)
        await heads.get()
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        assert await heads.get() == b"closed"


async def test_a_failure_of_the_provider_behind_a_proxy_stays_its_own(proxy_that_says) -> None:
    answer = b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n"
    async with proxy_that_says(answer) as (sender, _):
        with pytest.raises(ProviderError) as caught:
            await sender.send("POST", "http://provider.example/", headers={}, body=b"{}")
    assert type(caught.value) is ProviderError
    assert caught.value.status == 500


async def test_a_proxy_may_be_spoken_to_over_tls(serve, server_tls, trusting) -> None:
    async with serve(tls=server_tls) as proxy:
        environ = {"HTTP_PROXY": f"https://127.0.0.1:{proxy.port}", **trusting}
        async with through(environ) as sender:
            await sender.send("POST", "http://provider.example/x?y", headers={}, body=b"{}")
    assert proxy.requests[0].line == "POST http://provider.example/x?y HTTP/1.1"
