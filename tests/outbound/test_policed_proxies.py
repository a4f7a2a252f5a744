"""With a proxy the destination is still judged first, and named by the judged address."""

import asyncio
from contextlib import suppress

import pytest

from gateway_core import Endpoint
from gateway_core.errors import DestinationBlocked, DestinationUnusable, ProviderError
from gateway_core.outbound import DestinationPolicy, Outbound

pytestmark = pytest.mark.anyio


class Proxy:
    """Notes what it is asked for and leads every tunnel to one port on loopback."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self.target = 0

    async def serve(self, reader, writer) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.heads.append(head)
            if head.startswith("CONNECT"):
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await self._pipe(reader, writer)
                break
            await reader.readexactly(2)
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")

    async def _pipe(self, reader, writer) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self.target)
        await asyncio.gather(copy(reader, inner_writer), copy(inner_reader, writer))


async def copy(reader, writer) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
    writer.close()


@pytest.fixture
async def names():
    return {"provider.example": ["203.0.113.7"]}


@pytest.fixture
async def proxy():
    return Proxy()


@pytest.fixture
async def policed(listen, trusting, names, proxy):
    async def resolve(host, port):
        if host not in names:
            raise OSError
        return names[host]

    async with listen(proxy.serve) as port:
        environ = {"ALL_PROXY": f"http://u:p@127.0.0.1:{port}", **trusting}
        outbound = Outbound(environ, resolve=resolve)
        yield outbound.sender(Endpoint(), DestinationPolicy())
        await outbound.aclose()


async def test_a_tunnel_leads_plain_http_to_the_judged_address_and_the_origin_sees_its_name(
    serve, policed, proxy, names
) -> None:
    async with serve() as server:
        proxy.target = server.port
        names["provider.example"] = ["203.0.113.7", "203.0.113.8"]
        for body in (b"{}", b"x" * 1_000_000):
            await policed.send("POST", "http://provider.example/a", headers={}, body=body)
        assert server.connections == 1
        names["provider.example"] = ["2606:4700::1111"]
        await policed.send("POST", "http://provider.example/a", headers={}, body=b"{}")
        await policed.send("POST", "http://203.0.113.9:81/a", headers={}, body=b"{}")
        origin = [request.headers for request in server.requests]
    assert [head.split("\r\n")[:2] for head in proxy.heads] == [
        ["CONNECT 203.0.113.7:80 HTTP/1.1", "host: 203.0.113.7:80"],
        ["CONNECT [2606:4700::1111]:80 HTTP/1.1", "host: [2606:4700::1111]:80"],
        ["POST http://203.0.113.9:81/a HTTP/1.1", "host: 203.0.113.9:81"],
    ]
    assert all("proxy-authorization: Basic dTpw\r\n" in head for head in proxy.heads)
    assert [headers["host"] for headers in origin] == ["provider.example"] * 3
    assert not any("proxy-authorization" in headers for headers in origin)


async def test_a_tunnel_leads_to_the_judged_address_and_tls_is_for_the_name(
    serve, policed, proxy, server_tls
) -> None:
    async with serve(tls=server_tls) as server:
        proxy.target = server.port
        for _ in range(2):
            await policed.send("POST", "https://provider.example/a", headers={}, body=b"{}")
        assert server.connections == 1
    assert [head.split("\r\n") for head in proxy.heads] == [
        [
            "CONNECT 203.0.113.7:443 HTTP/1.1",
            "host: 203.0.113.7:443",
            "proxy-authorization: Basic dTpw",
            "",
            "",
        ]
    ]
    assert server.requests[0].headers["host"] == "provider.example"
    assert "proxy-authorization" not in server.requests[0].headers


async def test_a_407_out_of_a_tunnel_is_the_providers_own(
    serve, policed, proxy, server_tls
) -> None:
    reply = b"HTTP/1.1 407 Odd\r\ncontent-length: 0\r\n\r\n"
    async with serve(reply, tls=server_tls) as server:
        proxy.target = server.port
        with pytest.raises(ProviderError) as caught:
            await policed.send("POST", "https://provider.example/a", headers={}, body=b"{}")
    assert (type(caught.value), caught.value.status) == (ProviderError, 407)


async def test_a_tunnel_through_a_proxy_over_tls_holds_tls_of_its_own(
    serve, listen, proxy, server_tls, trusting
) -> None:
    async with serve(tls=server_tls) as server, listen(proxy.serve, server_tls) as port:
        proxy.target = server.port
        outbound = Outbound({"HTTPS_PROXY": f"https://127.0.0.1:{port}", **trusting})
        sender = outbound.sender(Endpoint())
        body = b"x" * 1_000_000
        for _ in range(2):
            await sender.send("POST", "https://provider.example/a", headers={}, body=body)
        await outbound.aclose()
    assert [request.body for request in server.requests] == [body] * 2
    assert len(proxy.heads) == server.connections == 1


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    "refused",
    [
        ("bad.example", DestinationBlocked),
        ("nowhere.example", DestinationUnusable),
        ("169.254.169.254", DestinationBlocked),
        ("metadata", DestinationBlocked),
    ],
)
async def test_a_proxy_is_no_way_around_the_policy(policed, proxy, names, scheme, refused) -> None:
    host, error = refused
    names["bad.example"] = ["1.1.1.1", "10.0.0.1"]
    with pytest.raises(error):
        await policed.send("POST", f"{scheme}://{host}/", headers={}, body=b"{}")
    assert proxy.heads == []
