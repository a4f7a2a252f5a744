"""The policy at work: what is judged is what is dialled, for every request."""

import asyncio
import socket

import pytest

from gateway_core import Endpoint
from gateway_core.errors import DestinationBlocked, DestinationUnusable, ProviderUnreachable
from gateway_core.outbound import DestinationPolicy, Outbound
from gateway_core.outbound.dial import system_dial

pytestmark = pytest.mark.anyio
STRICT = DestinationPolicy()


class Network:
    """A name server and a network of our own: any address leads to loopback.

    The policy forbids loopback in whatever dress, so success needs addresses that are not
    there; names and routes are the two things of the outside world that a test must stand in
    for.
    """

    def __init__(self, **names: list[str]) -> None:
        self.names = {name.replace("_", "."): addresses for name, addresses in names.items()}
        self.lookups: list[str] = []
        self.dialled: list[str] = []
        self.dead: set[str] = set()

    async def resolve(self, host, port):
        self.lookups.append(host)
        if host not in self.names:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return self.names[host]

    async def dial(self, protocol, host, port, tls, server_name) -> None:
        self.dialled.append(host)
        if host in self.dead:
            raise ConnectionRefusedError
        await system_dial(protocol, "127.0.0.1", port, tls, server_name)


@pytest.fixture
async def network():
    return Network(provider_example=["203.0.113.7"])


@pytest.fixture
async def policed(network, trusting):
    outbound = Outbound(trusting, resolve=network.resolve, dial=network.dial)
    yield outbound.sender(Endpoint(), STRICT)
    await outbound.aclose()


async def ask(sender, server, host: str = "provider.example"):
    return await sender.send("POST", server.url(host=host), headers={}, body=b"{}")


async def test_the_judged_address_is_dialled_and_the_host_header_names_the_host(
    serve, policed, network
) -> None:
    async with serve() as server:
        await ask(policed, server)
        assert server.requests[0].headers["host"] == f"provider.example:{server.port}"
    assert network.dialled == ["203.0.113.7"]


async def test_every_request_is_judged_pooled_ones_too(serve, policed, network) -> None:
    async with serve() as server:
        await ask(policed, server)
        await ask(policed, server)
        assert (network.lookups, server.connections) == (["provider.example"] * 2, 1)
        network.names["provider.example"] = ["127.0.0.1"]
        with pytest.raises(DestinationBlocked) as caught:
            await ask(policed, server)
    assert len(server.requests) == 2
    assert "127" not in str(caught.value)


async def test_an_allowed_literal_address_is_dialled_as_it_was_judged_and_pooled(
    serve, policed, network
) -> None:
    async with serve() as server:
        for host in ("203.0.113.7", "203.0.113.7", "0xcb.0.0x7107"):
            await ask(policed, server, host)
    assert network.dialled == ["203.0.113.7", "203.0.113.7"]
    assert (network.lookups, server.connections) == ([], 2)


async def test_a_forbidden_literal_address_is_refused_and_told_every_time(
    serve, policed, network, caplog
) -> None:
    async with serve() as server:
        for _ in range(3):
            with pytest.raises(DestinationBlocked):
                await ask(policed, server, "10.0.0.1")
    assert caplog.text.count("blocked: 10.0.0.1") == 3
    assert network.dialled == []


async def test_a_name_that_moved_is_not_served_by_an_old_connection(
    serve, policed, network
) -> None:
    async with serve() as server:
        await ask(policed, server)
        network.names["provider.example"] = ["203.0.113.8"]
        await ask(policed, server)
    assert network.dialled == ["203.0.113.7", "203.0.113.8"]
    assert server.connections == 2


async def test_one_bad_address_among_the_names_blocks_before_anything_is_dialled(
    serve, policed, network
) -> None:
    network.names["provider.example"] = ["203.0.113.7", "169.254.169.254"]
    async with serve() as server:
        with pytest.raises(DestinationBlocked):
            await ask(policed, server)
    assert network.dialled == []


async def test_the_next_judged_address_is_tried_when_one_is_down(serve, policed, network) -> None:
    network.names["provider.example"] = ["203.0.113.7", "203.0.113.8"]
    network.dead = {"203.0.113.7"}
    async with serve() as server:
        await ask(policed, server)
        network.dead |= {"203.0.113.8"}
        await ask(policed, server)
    assert network.dialled == ["203.0.113.7", "203.0.113.8"]
    assert len(server.requests) == 2


async def test_a_name_that_cannot_be_resolved_fails_closed(serve, policed, network) -> None:
    async with serve() as server:
        with pytest.raises(DestinationUnusable):
            await ask(policed, server, "nowhere.example")
        network.names["empty.example"] = []
        with pytest.raises(DestinationUnusable):
            await ask(policed, server, "empty.example")
    assert network.dialled == []


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "[::1]",
        "2130706433",
        "0x7f.1",
        "127.0.0.1.",
        "\uff11\uff12\uff17.0.0.1",
        "127\u30020\u30020\u30021",
        "metadata.google.internal.",
        "METADATA",
        "10.0.0.1",
        "[::ffff:a00:1]",
    ],
)
async def test_a_forbidden_host_is_blocked_without_a_lookup(serve, policed, network, host) -> None:
    async with serve() as server:
        with pytest.raises(DestinationBlocked):
            await ask(policed, server, host)
    assert (network.lookups, network.dialled, server.connections) == ([], [], 0)


async def test_a_literal_that_is_allowed_is_dialled_in_its_plain_spelling(
    serve, policed, network
) -> None:
    async with serve() as server:
        await ask(policed, server, "0xcb007107")
        await ask(policed, server, "[2606:4700::1111]")
        assert server.requests[1].headers["host"] == f"[2606:4700::1111]:{server.port}"
    assert network.dialled == ["203.0.113.7", "2606:4700::1111"]


async def test_the_system_resolver_is_judged_like_any_other(serve, outbound) -> None:
    sender = outbound.sender(Endpoint(), DestinationPolicy(allow_private=True))
    async with serve() as server:
        with pytest.raises(DestinationBlocked):
            await ask(sender, server, "localhost")
    assert server.connections == 0


async def test_a_name_without_an_address_is_unusable_for_the_operator_too(sender) -> None:
    with pytest.raises(DestinationUnusable):
        await sender.send("GET", "http://nowhere.invalid/", headers={}, body=b"")


async def test_lookups_of_one_name_are_shared_and_survive_a_cancelled_caller(serve) -> None:
    network = Network(provider_example=["203.0.113.7"])
    release = asyncio.Event()

    async def slow(host, port):
        await release.wait()
        return await network.resolve(host, port)

    outbound = Outbound({}, resolve=slow, dial=network.dial)
    sender = outbound.sender(Endpoint(), STRICT)
    async with serve() as server:
        tasks = [asyncio.ensure_future(ask(sender, server)) for _ in range(10)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        release.set()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(outcomes[0], asyncio.CancelledError)
        assert [reply.body for reply in outcomes[1:]] == [b"{}"] * 9
        assert network.lookups == ["provider.example"]
        await ask(sender, server)
        assert len(network.lookups) == 2
        await outbound.aclose()


async def test_tls_is_for_the_name_though_the_connection_goes_to_the_address(
    serve, policed, network, server_tls
) -> None:
    names = []
    server_tls.sni_callback = lambda _socket, name, _context: names.append(name)
    try:
        async with serve(tls=server_tls) as server:
            await ask(policed, server)
            network.names["provider.example."] = ["203.0.113.7"]
            await ask(policed, server, "provider.example.")
    finally:
        server_tls.sni_callback = None
    assert names == ["provider.example"] * 2
    assert network.dialled == ["203.0.113.7"] * 2


async def test_a_certificate_for_another_name_is_refused(
    serve, policed, network, server_tls
) -> None:
    network.names["other.example"] = ["203.0.113.9"]
    async with serve(tls=server_tls) as server:
        with pytest.raises(ProviderUnreachable, match="certificate was not accepted") as caught:
            await ask(policed, server, "other.example")
    assert "203" not in str(caught.value)
    assert server.requests == []
