"""Connections made: directly, or through a proxy, to the very address that was judged."""

import asyncio
import ssl
from typing import Protocol

from gateway_core.causes import Cause
from gateway_core.errors import ProviderUnreachable
from gateway_core.outbound.connection import Connection
from gateway_core.outbound.proxies import Proxy
from gateway_core.outbound.route import Route
from gateway_core.outbound.target import Target, bracketed
from gateway_core.outbound.tls import Tls
from gateway_core.outbound.tunnel import Tunnel
from gateway_core.passing import is_shortage


class Dial(Protocol):
    """How a TCP connection, with TLS on top where asked for, is opened."""

    async def __call__(
        self,
        protocol: asyncio.BaseProtocol,
        host: str,
        port: int,
        tls: ssl.SSLContext | None,
        server_name: str | None,
    ) -> None:
        """Connect ``protocol``; raise ``OSError`` when that fails."""


async def system_dial(
    protocol: asyncio.BaseProtocol,
    host: str,
    port: int,
    tls: ssl.SSLContext | None,
    server_name: str | None,
) -> None:
    """Connect over the network."""
    await asyncio.get_running_loop().create_connection(
        lambda: protocol, host, port, ssl=tls, server_hostname=server_name
    )


class Dialler:
    """Opens connections for targets, with or without a proxy on the way."""

    def __init__(self, tls: Tls, dial: Dial) -> None:
        self._tls = tls
        self._dial = dial

    async def connect(self, connection: Connection, route: Route, address: str) -> None:
        """Connect ``connection`` to ``address`` for the target of ``route``.

        Raises:
            OSError: the target cannot be reached.
            ProviderUnreachable: the proxy cannot be reached, or refuses.
        """
        target, proxy = route.target, route.proxy
        if proxy is None:
            tls = self._tls.context() if target.tls else None
            name = _server_name(target.host) if target.tls else None
            await self._dial(connection, address, target.port, tls, name)
        elif route.tunnel:
            await self._tunnel(connection, target, address, proxy)
        else:
            await self._to_proxy(connection, proxy)

    async def _to_proxy(self, protocol: asyncio.BaseProtocol, proxy: Proxy) -> None:
        tls = self._tls.context() if proxy.scheme == "https" else None
        name = _server_name(proxy.host) if tls else None
        try:
            await self._dial(protocol, proxy.host, proxy.port, tls, name)
        except (OSError, UnicodeError) as error:
            if is_shortage(error):
                raise
            raise ProviderUnreachable("the proxy cannot be reached", cause=Cause.PROXY) from None

    async def _tunnel(
        self, connection: Connection, target: Target, address: str, proxy: Proxy
    ) -> None:
        tunnel = Tunnel()
        await self._to_proxy(tunnel, proxy)
        try:
            await tunnel.open(f"{bracketed(address)}:{target.port}", proxy.authorization)
            transport = await self._handed_over(tunnel.transport, connection, target)
        except BaseException:
            tunnel.transport.abort()
            raise
        connection.connection_made(transport)

    async def _handed_over(
        self, transport: asyncio.Transport, connection: Connection, target: Target
    ) -> asyncio.Transport:
        """Give an open tunnel to ``connection``; return what it writes to."""
        if not target.tls:
            # A loop decides how to read when it begins to.
            transport.pause_reading()
            transport.set_protocol(connection)
            transport.resume_reading()
            return transport
        secured = await asyncio.get_running_loop().start_tls(
            transport, connection, self._tls.context(), server_hostname=_server_name(target.host)
        )
        if secured is None:
            raise OSError
        return secured


def _server_name(host: str) -> str:
    return host.rstrip(".")
