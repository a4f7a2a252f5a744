# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""From a target to a connection: policy, pool, proxy and dialling in their order."""

import asyncio
import logging
import socket
import ssl
from collections.abc import Sequence
from typing import Final

from gateway_core.causes import CONNECTING, Cause
from gateway_core.errors import DestinationUnusable, ProviderUnreachable, ShortOfResources
from gateway_core.outbound.connection import Connection
from gateway_core.outbound.dial import Dialler
from gateway_core.outbound.policy import DestinationPolicy
from gateway_core.outbound.pool import Pool
from gateway_core.outbound.resolve import Resolver
from gateway_core.outbound.route import Route
from gateway_core.outbound.target import RouteKey
from gateway_core.passing import is_shortage

_log: Final = logging.getLogger("s1gw.outbound")
_UNRESOLVED: Final = "the URL's host cannot be resolved"


class Connector:
    """Finds or makes the connection that a request travels on.

    Attributes:
        take: finds an open one in the pool; see ``Pool.take``.
    """

    def __init__(self, pool: Pool, resolver: Resolver, dialler: Dialler) -> None:
        self._pool = pool
        self.take = pool.take
        self._resolver = resolver
        self._dialler = dialler

    async def judge(self, route: Route, policy: DestinationPolicy) -> Sequence[RouteKey]:
        """Return where to connect: the addresses that the host has now, each of them allowed.

        Raises:
            DestinationBlocked: the policy forbids one of them.
            DestinationUnusable: the host cannot be resolved.
        """
        target = route.target
        addresses = await self._resolver.addresses(target.host, target.port)
        policy.check_addresses(target.host, addresses)
        return [route.key(address) for address in addresses]

    async def open(self, route: Route, keys: Sequence[RouteKey]) -> Connection:
        """Return a new connection to the first of ``keys`` that can be had.

        Nothing of a request is sent here, so trying the next address asks no provider twice.

        Raises:
            ProviderUnreachable: none can be had.
            ShortOfResources: this process can have no more.
        """
        cause = Cause.UNREACHABLE
        for key in keys:
            connection = Connection(key, self._pool)
            try:
                await self._connect(connection, route)
            except socket.gaierror:
                raise DestinationUnusable(_UNRESOLVED, cause=Cause.DNS) from None
            except ssl.SSLError as error:
                _log.warning("no TLS with %s: %s", route.target.host, error)
                raise ProviderUnreachable(_tls_fault(error), cause=Cause.TLS) from None
            except OSError as error:
                if is_shortage(error):
                    raise ShortOfResources from None
                _log.warning("no connection to %s: %s", route.target.host, type(error).__name__)
                if isinstance(error, ConnectionRefusedError):
                    cause = Cause.CONNECT_REFUSED
            else:
                return connection
        raise ProviderUnreachable("no connection could be made", cause=cause)

    async def _connect(self, connection: Connection, route: Route) -> None:
        address = connection.key.address
        try:
            await self._dialler.connect(connection, route, address)
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError):
                # Whoever limits the time can tell by this what it was spent on.
                error.add_note(CONNECTING)
            # uvloop closes what is given up meanwhile, and does not tell the protocol.
            self._pool.lost(connection)
            raise


def _tls_fault(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return "the certificate was not accepted; SSL_CERT_FILE or SSL_CERT_DIR name whom to trust"
    return "no TLS connection could be made"
