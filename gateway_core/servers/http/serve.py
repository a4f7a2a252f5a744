"""``s1gw serve --http``: the processes, their logs and their socket."""

import asyncio
import logging
import os
import signal
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any, Final, NoReturn, cast

import attrs
import uvicorn

from gateway_core import logs
from gateway_core.config.load import Loaded, load_config
from gateway_core.config.model import HttpConfig
from gateway_core.errors import ConfigError
from gateway_core.servers.http.access_log import AccessLog, as_json, as_text
from gateway_core.servers.http.app import Application
from gateway_core.servers.http.connection import ClientConnection
from gateway_core.servers.http.crowd import Crowd, raise_descriptor_limit
from gateway_core.servers.http.listening import BACKLOG, announce, refusal, reserve
from gateway_core.servers.http.opening import Server, when_listening
from gateway_core.servers.http.services import open_services
from gateway_core.servers.http.startup import check, warn
from gateway_core.servers.http.workers import Workers, end_with_supervisor

_log: Final = logging.getLogger("s1gw.http")


@attrs.frozen(kw_only=True)
class Options:
    """What the command line says; each worker reads the configuration for itself.

    Attributes:
        config_path: the configuration file, or None for the usual place.
        overrides: values in place of those of ``[http]``, by attribute.
    """

    config_path: Path | None = None
    overrides: dict[str, Any] = attrs.field(factory=dict)

    def load(self) -> Loaded:
        """Read the configuration, with the command line's values in it."""
        loaded = load_config(self.config_path)
        http = attrs.evolve(loaded.config.http, **self.overrides)
        return attrs.evolve(loaded, config=attrs.evolve(loaded.config, http=http))


@attrs.frozen
class AppFactory:
    """Builds the application in the process that serves it."""

    options: Options

    def __call__(self) -> Application:
        """Return the application, with this process's logs set up."""
        loaded = self.options.load()
        logs.setup(loaded.config.log.format, loaded.config.log.level)
        end_with_supervisor()
        log = loaded.config.log
        render = as_json if log.format == "json" else as_text
        access_log = AccessLog(render, least=log.level, probes=log.probes)
        raise_descriptor_limit()
        http = loaded.config.http
        crowd = Crowd(http.max_connections, http.max_connections_per_address)
        return Application(lambda: open_services(loaded), access_log, crowd=crowd)


def serve(options: Options) -> None:
    """Serve until SIGTERM or SIGINT, then drain.

    Raises:
        ConfigError: the server cannot be started as configured; each fault has its way out.
    """
    loaded = options.load()
    if "http" in loaded.broken:
        # What is open to others is not served by defaults that nobody chose.
        raise ConfigError(*loaded.faults)
    logs.setup(loaded.config.log.format, loaded.config.log.level)
    http = loaded.config.http
    keys = check(http)
    listeners = reserve(http)
    warn(loaded, keys)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    config = _uvicorn_config(options, http)
    listening = partial(announce, http, listeners)
    if http.workers > 1:
        when_listening(listeners[0], listening)
        Workers(config, listeners).run()
        return
    try:
        Server(config, listening).run(listeners)
    except OSError as error:
        # Another server has taken the port meanwhile.
        raise refusal(error, http.host, http.port) from None


def _uvicorn_config(options: Options, http: HttpConfig) -> uvicorn.Config:
    return uvicorn.Config(
        AppFactory(options),
        factory=True,
        interface="asgi3",
        # An event loop takes buffered protocols as well, which uvicorn's types leave out.
        http=cast("type[asyncio.Protocol]", ClientConnection),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        workers=http.workers,
        backlog=BACKLOG,
        timeout_graceful_shutdown=ceil(http.drain_s),
        ssl_certfile=http.tls_certificate,
        ssl_keyfile=http.tls_key,
    )


def _leave(*_: object) -> NoReturn:
    # Until the server takes signals itself there is nothing to finish, and an exception would
    # come up in the midst of its start.
    os._exit(0)
