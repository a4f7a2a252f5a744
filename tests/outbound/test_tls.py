"""TLS: whom to trust, and bodies of any size over it."""

import asyncio
import ssl

import certifi
import pytest

from gateway_core import Endpoint
from gateway_core.errors import ProviderUnreachable
from gateway_core.outbound import Outbound
from gateway_core.outbound.tls import Tls

pytestmark = pytest.mark.anyio


@pytest.fixture
async def secure(trusting):
    outbound = Outbound(trusting)
    yield outbound.sender(Endpoint())
    await outbound.aclose()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_trusted_server_is_spoken_to_and_its_connection_kept(
    serve, secure, server_tls, host
) -> None:
    async with serve(tls=server_tls) as server:
        for _ in range(3):
            await secure.send("POST", server.url(host=host), headers={}, body=b"{}")
    assert server.connections == 1
    assert server.requests[0].headers["host"] == f"{host}:{server.port}"


async def test_an_untrusted_server_is_refused(serve, sender, server_tls) -> None:
    async with serve(tls=server_tls) as server:
        with pytest.raises(ProviderUnreachable, match="SSL_CERT_FILE"):
            await sender.send("POST", server.url(), headers={}, body=b"{}")
    assert server.requests == []


async def test_a_server_without_tls_is_refused(listen, secure) -> None:
    async def speak(reader, writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
        await reader.read()
        writer.close()

    async with listen(speak) as port:
        url = f"https://127.0.0.1:{port}/"
        with pytest.raises(ProviderUnreachable, match="no TLS connection"):
            await secure.send("POST", url, headers={}, body=b"{}")


@pytest.mark.parametrize("size", [100_000, 5_000_000])
async def test_large_bodies_travel_both_ways(serve, secure, server_tls, size) -> None:
    async def echo(request, writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(request.body))
        writer.write(request.body)

    body = bytes(range(250)) * (size // 250)
    async with serve(echo, tls=server_tls) as server:
        for _ in range(2):
            reply = await secure.send("POST", server.url(), headers={}, body=body)
            assert reply.body == body
    assert server.connections == 1


async def test_cancellation_closes_a_tls_connection(serve, secure, server_tls) -> None:
    async def silent(request, writer) -> None:
        await request.gone()
        gone.set()

    gone = asyncio.Event()
    async with serve(silent, tls=server_tls) as server, asyncio.timeout(20):
        task = asyncio.create_task(secure.send("POST", server.url(), headers={}, body=b"{}"))
        await server.arrived.wait()
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        await gone.wait()


async def test_a_connection_closed_while_idle_is_not_reused(serve, secure, server_tls) -> None:
    async with serve(tls=server_tls) as server, asyncio.timeout(20):
        await secure.send("POST", server.url(), headers={}, body=b"{}")
        server.writers[0].close()
        await server.closed.wait()
        await secure.send("POST", server.url(), headers={}, body=b"{}")
    assert server.connections == 2


async def test_ssl_cert_dir_is_honoured(serve, authority, server_tls, tmp_path) -> None:
    certificate = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(certificate)
    process = await asyncio.create_subprocess_exec("openssl", "rehash", str(tmp_path))
    assert await process.wait() == 0
    outbound = Outbound({"SSL_CERT_DIR": str(tmp_path)})
    async with serve(tls=server_tls) as server:
        sender = outbound.sender(Endpoint())
        await sender.send("POST", server.url(), headers={}, body=b"{}")
    await outbound.aclose()


async def test_certificates_that_cannot_be_loaded_are_named(serve, server_tls) -> None:
    outbound = Outbound({"SSL_CERT_FILE": "/nowhere/ca.pem"})
    async with serve(tls=server_tls) as server:
        with pytest.raises(ProviderUnreachable, match="SSL_CERT_FILE"):
            await outbound.sender(Endpoint()).send("GET", server.url(), headers={}, body=b"")
    await outbound.aclose()


def test_without_a_choice_there_is_always_someone_to_trust() -> None:
    context = Tls({}).context()
    assert context.cert_store_stats()["x509_ca"] > 0
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert certifi.where()


def test_the_system_s_own_certificates_are_enough_where_it_has_some() -> None:
    own = ssl.create_default_context().cert_store_stats()["x509_ca"]
    assert own > 0, "the system trusts nobody: apt-get install ca-certificates"
    assert Tls({}).context().cert_store_stats()["x509_ca"] == own


async def test_only_one_context_is_made() -> None:
    tls = Tls({})
    assert tls.context() is tls.context()
