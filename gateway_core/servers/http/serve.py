"""``s1gw serve --http``: what is checked and opened before the first request, and who serves."""

import os
import signal
import socket
from typing import Final

import attrs

from gateway_core import logs
from gateway_core.servers.http.checked import Checked, Options
from gateway_core.servers.http.inherited import address_of, close_unix, inherited
from gateway_core.servers.http.listening import listening_error, reserve
from gateway_core.servers.http.notify import Notifier
from gateway_core.servers.http.server import leave
from gateway_core.servers.http.startup import warn, working_keys

__all__ = ["Options", "serve"]
_STOPPING: Final = (signal.SIGTERM, signal.SIGINT)


def serve(options: Options) -> None:
    """Serve until SIGTERM or SIGINT, then drain.

    Raises:
        ConfigError: the server cannot be started as configured; each fault has its way out.
        SystemExit: the services cannot be opened; the log says why.
    """
    notifier = Notifier(os.environ)
    # One that comes now waits until there is something to reload.
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGHUP,))
    loaded = options.load()
    handed = inherited(loaded.config.http, os.environ)
    options = attrs.evolve(options, addresses=tuple(map(address_of, handed)))
    checked = Checked.of(options, loaded)
    logs.setup(loaded.config.log.format, loaded.config.log.level)
    listeners = handed or reserve(checked.http)
    warn(loaded, working_keys(checked.http))
    for number in _STOPPING:
        signal.signal(number, leave)
    try:
        _run(options, checked, notifier, listeners)
    except OSError as error:
        # Another server has taken the port meanwhile.
        raise listening_error(error, checked.http.host, checked.http.port) from None
    finally:
        if checked.http.uds is not None and not handed:
            close_unix(checked.http.uds, listeners[0])


def _run(
    options: Options, checked: Checked, notifier: Notifier, listeners: list[socket.socket]
) -> None:
    if checked.http.workers > 1:
        from gateway_core.servers.http.supervisor import Supervisor

        Supervisor(options, checked, notifier).run(listeners)
    else:
        from gateway_core.servers.http.single import Single

        Single(options, checked, notifier).run(listeners)
