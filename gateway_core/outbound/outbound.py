"""The one way out of the process."""

import os
from collections.abc import Mapping

from gateway_core.context import Endpoint
from gateway_core.outbound.connector import Connector
from gateway_core.outbound.dial import Dial, Dialler, system_dial
from gateway_core.outbound.policy import DestinationPolicy
from gateway_core.outbound.pool import Pool
from gateway_core.outbound.proxies import Proxies
from gateway_core.outbound.resolve import Resolve, Resolver, system_resolve
from gateway_core.outbound.sender import HttpSender
from gateway_core.outbound.tls import Tls


class Outbound:
    """Connections, proxies and certificates that all senders of one event loop share."""

    def __init__(
        self,
        environ: Mapping[str, str] = os.environ,
        *,
        resolve: Resolve = system_resolve,
        dial: Dial = system_dial,
    ) -> None:
        """Read what the environment says about proxies and certificates, once.

        Args:
            environ: the environment; it is never written to.
            resolve: how the names of policed destinations become addresses.
            dial: how a connection to an address is opened.
        """
        self._proxies = Proxies(environ)
        self._pool = Pool()
        self._connector = Connector(self._pool, Resolver(resolve), Dialler(Tls(environ), dial))

    def sender(self, endpoint: Endpoint, policy: DestinationPolicy | None = None) -> HttpSender:
        """Return the way out of one provider.

        Args:
            endpoint: its timeout and extra headers; secrets among these are revealed here.
            policy: where it may live; None for a provider that the operator configured.

        Raises:
            ConfigError: an extra header is not one, or would break the framing of messages.
        """
        return HttpSender(self._connector, self._proxies, endpoint, policy)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._pool.aclose()
