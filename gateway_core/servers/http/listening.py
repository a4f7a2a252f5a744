"""The sockets of the server: every address that ``http.host`` stands for, of both families.

They have their port from the start, and take connections only once there is somebody to answer
them. A start that fails never had its port open: no client got a connection that nobody answers,
and no load balancer took it for ready.

Or in place of these a Unix socket, or what was opened before the server started.
"""

import errno
import logging
import os
import socket
from collections.abc import Iterator
from typing import Any, Final

from gateway_core.config.model import HttpConfig
from gateway_core.errors import ConfigError
from gateway_core.servers.http.inherited import open_unix

_log: Final = logging.getLogger("s1gw.http")
BACKLOG: Final = 2048
_EVERYWHERE: Final = {"::": "0.0.0.0"}  # noqa: S104 - what "::" asks for
"""A host that means every address, in one family; and the same in the other."""
_ABSENT: Final = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
"""What binding fails with where a machine lacks an address or a whole family."""
_FAMILIES: Final = {socket.AF_INET: "IPv4", socket.AF_INET6: "IPv6"}

ListenAddress = tuple[socket.AddressFamily, tuple[Any, ...]]


def reserve(http: HttpConfig) -> list[socket.socket]:
    """Bind to all addresses that ``http.host`` stands for, on one port, without listening yet.

    ``::`` is every address of IPv6 and of IPv4, whatever the system's default for such sockets
    is; a name is every address that it resolves to. What the machine does not have is left out,
    and logged, as long as anything is left. Where ``http.uds`` is set, it is all that is opened.

    Raises:
        ConfigError: none of them is there, or one of them cannot be used.
    """
    if http.uds is not None:
        return [open_unix(http.uds, BACKLOG)]
    listeners: list[socket.socket] = []
    missing: list[OSError] = []
    port = http.port
    for family, address in _places(http):
        try:
            listener = _open(family, (address[0], port, *address[2:]), reuse_port=http.reuse_port)
        except OSError as error:
            if error.errno not in _ABSENT:
                for listener in listeners:
                    listener.close()
                raise listening_error(error, address[0], port) from None
            _log.warning("not listening on %s over %s", address[0], _FAMILIES[family])
            missing.append(error)
        else:
            listeners.append(listener)
            # Port 0 lets the system choose, once for all of them.
            port = listener.getsockname()[1]
    if not listeners:
        raise listening_error(missing[0], http.host, port)
    return listeners


def announce(http: HttpConfig, listeners: list[socket.socket]) -> None:
    """Say where the server listens, a line each."""
    scheme = "https" if http.tls_certificate else "http"
    for listener in listeners:
        name = listener.getsockname()
        if isinstance(name, str | bytes):
            _log.info("listening on the Unix socket %s", os.fsdecode(name))
            continue
        shown = f"[{name[0]}]" if ":" in name[0] else name[0]
        _log.info("listening on %s://%s:%d", scheme, shown, name[1])


def _places(http: HttpConfig) -> list[ListenAddress]:
    try:
        return list(dict.fromkeys(_resolved(http)))
    except OSError as error:
        raise ConfigError(f"http.host: cannot be resolved: {error.strerror}") from None
    # A label that is empty or too long.
    except UnicodeError:
        raise ConfigError("http.host: is no host name or address") from None


def _resolved(http: HttpConfig) -> Iterator[ListenAddress]:
    # Without the dot that ends a full name, which the system's table of hosts does not know.
    name = http.host.rstrip(".")
    for host in filter(None, (name, _EVERYWHERE.get(name))):
        for family, *_, address in socket.getaddrinfo(host, http.port, type=socket.SOCK_STREAM):
            if family in _FAMILIES:
                yield family, address


def _open(
    family: socket.AddressFamily, address: tuple[Any, ...], *, reuse_port: bool
) -> socket.socket:
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if reuse_port:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            # The socket of one family takes nothing of the other: each has its own.
            found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        found.bind(address)
    except OSError:
        found.close()
        raise
    return found


def listening_error(error: OSError, host: str, port: int) -> ConfigError:
    """Return what a start ends with that cannot listen."""
    # The error's own text repeats the address as Python spells it.
    reason = os.strerror(error.errno) if error.errno else str(error)
    return ConfigError(f"http.host and http.port: cannot listen on {host} port {port}: {reason}")
