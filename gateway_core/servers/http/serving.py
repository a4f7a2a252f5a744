"""What one process serves, and how it goes over from one configuration to the next."""

import asyncio
import gc
import logging
import socket
from collections.abc import Sequence
from typing import Final

import attrs

from gateway_core import logs
from gateway_core.errors import ConfigError, GatewayError
from gateway_core.servers.http.access_log import AccessLog
from gateway_core.servers.http.app import Application
from gateway_core.servers.http.checked import Checked
from gateway_core.servers.http.crowd import Crowd, raise_descriptor_limit
from gateway_core.servers.http.kept import Kept
from gateway_core.servers.http.opened import Opened
from gateway_core.servers.http.server import HttpServer
from gateway_core.servers.http.services import Services, open_services
from gateway_core.servers.http.tls import ServerTls

_log: Final = logging.getLogger("s1gw.http")


@attrs.frozen(eq=False)
class Prepared:
    """A configuration that is built and not served yet."""

    checked: Checked
    opened: Opened


class Serving:
    """One process's application and server, with the configuration that they serve.

    Attributes:
        server: takes connections.
    """

    def __init__(self, checked: Checked) -> None:
        """Prepare to serve; the process's log is set up."""
        raise_descriptor_limit()
        http = checked.http
        self._kept = Kept()
        self._tls = None if checked.tls is None else ServerTls(checked.tls)
        log = checked.loaded.config.log
        logs.setup(log.format, log.level)
        self._app = Application(
            lambda: open_services(checked.loaded, self._kept),
            AccessLog.of(log),
            crowd=Crowd(http.max_connections, http.max_connections_per_address),
            life=self._kept.life,
        )
        self.server = HttpServer(self._app, http, None if self._tls is None else self._tls.context)

    def run(self, listeners: list[socket.socket]) -> None:
        """Serve until told to end; raise ``SystemExit`` when the services cannot be opened."""
        self.server.run(listeners)

    def note_faults(self, faults: Sequence[str]) -> None:
        """Have health tell why the last reload was refused; nothing if it was not."""
        self._kept.life.reload_faults = tuple(faults)

    async def prepare(self, checked: Checked) -> Prepared:
        """Build what ``checked`` asks for, beside what is served.

        Raises:
            GatewayError: it has faults that what is served does not have, or cannot be built now.
        """
        opened = await Opened.by(lambda: open_services(checked.loaded, self._kept))
        try:
            present = await asyncio.to_thread(_faults, self._app.services)
            faults = await asyncio.to_thread(_faults, opened.services)
            if new := [fault for fault in faults if fault not in present]:
                raise ConfigError(*new)
        except BaseException:
            await opened.aclose()
            raise
        return Prepared(checked, opened)

    def commit(self, prepared: Prepared) -> None:
        """Serve what was prepared from now on, and close what it replaces when that is idle."""
        checked = prepared.checked
        former = self._app.swap(prepared.opened)
        self.server.http = checked.http
        if self._tls is not None and checked.tls is not None:
            self._tls.renew(checked.tls)
        log = checked.loaded.config.log
        logs.setup(log.format, log.level)
        self._app.access_log.configure(log)
        self.note_faults(())
        # Tasks, of which each answers one request, are all that can still use the former.
        self.server.finish_later(_close(former, set(self.server.state.tasks)))

    async def abandon(self, prepared: Prepared) -> None:
        """Close what was prepared: it is not going to be served."""
        await prepared.opened.aclose()


def _faults(services: Services) -> Sequence[str]:
    """Return every fault of what is served; it imports the plugins that are."""
    registry = services.registry
    if services.keys is not None:
        return registry.problems_so_far
    registry.build_all()
    return registry.problems


async def _close(former: Opened, under_way: set[asyncio.Task[None]]) -> None:
    if under_way:
        await asyncio.wait(under_way)
    try:
        await former.aclose()
    except GatewayError as error:
        _log.warning("closing what a reload replaced: %s", error)
    # Looked for now: with so few looks in a process that serves, it would stay for long.
    del former
    gc.collect()
