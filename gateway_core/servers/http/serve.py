"""``s1gw serve --http``: the processes, their logs and their socket."""

import asyncio
import logging
import os
import signal
import socket
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
from gateway_core.servers.http.listening import Server, reserve, when_listening
from gateway_core.servers.http.services import open_services
from gateway_core.servers.http.startup import check, warn
from gateway_core.servers.http.workers import Workers, end_with_supervisor

_log: Final = logging.getLogger("s1gw.http")
_BACKLOG: Final = 2048


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
        shown = _log.isEnabledFor(logging.INFO)
        raise_descriptor_limit()
        http = loaded.config.http
        return Application(
            lambda: open_services(loaded),
            AccessLog(render if shown else None),
            crowd=Crowd(http.max_connections, http.max_connections_per_address),
        )


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
    listener = _bind(http)
    warn(loaded, keys)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    config = _uvicorn_config(options, http)
    announce = partial(_announce, http, listener)
    if http.workers > 1:
        when_listening(listener, announce)
        Workers(config, [listener]).run()
        return
    try:
        Server(config, announce).run([listener])
    except OSError as error:
        # Another server has taken the port meanwhile.
        raise _cannot_listen(error) from None


def _bind(http: HttpConfig) -> socket.socket:
    try:
        found = socket.getaddrinfo(http.host, http.port, type=socket.SOCK_STREAM)
        family, *_, address = found[0]
        return reserve(family, address[:2])
    except OSError as error:
        raise _cannot_listen(error) from None


def _cannot_listen(error: OSError) -> ConfigError:
    return ConfigError(f"http.host and http.port: cannot listen there: {error.strerror}")


def _announce(http: HttpConfig, listener: socket.socket) -> None:
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    scheme = "https" if http.tls_certificate else "http"
    _log.info("listening on %s://%s:%d", scheme, shown, port)


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
        backlog=_BACKLOG,
        timeout_graceful_shutdown=ceil(http.drain_s),
        ssl_certfile=http.tls_certificate,
        ssl_keyfile=http.tls_key,
    )


def _leave(*_: object) -> NoReturn:
    # Until the server takes signals itself there is nothing to finish, and an exception would
    # come up in the midst of its start.
    os._exit(0)
