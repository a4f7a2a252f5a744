"""Sockets that somebody else has opened for the server: systemd, or whoever started it."""

import os
import socket
from collections.abc import MutableMapping
from contextlib import closing
from pathlib import Path
from typing import Final

from gateway_core.config.model import HttpConfig
from gateway_core.errors import ConfigError

FIRST: Final = 3
"""The first descriptor that systemd hands over (sd_listen_fds(3))."""
_OURS: Final = ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES")


def inherited(http: HttpConfig, environ: MutableMapping[str, str]) -> list[socket.socket]:
    """Return the sockets to serve on that are open already; none when the server opens its own.

    ``http.fd`` comes first, then what systemd's socket activation hands over. The variables of the
    latter are taken out of ``environ``, so that no other process takes them for its own.

    Raises:
        ConfigError: one of them is no socket that listens for streams.
    """
    handed = [environ.pop(name, "") for name in _OURS]
    if http.fd is not None:
        return [_listener(http.fd, "http.fd")]
    pid, number, _ = handed
    if pid != str(os.getpid()) or not number.isdecimal():
        return []
    return [_listener(FIRST + place, "LISTEN_FDS") for place in range(int(number))]


def address_of(listener: socket.socket) -> str:
    """Return the address that a socket listens on; loopback's for one in the file system."""
    if listener.family not in (socket.AF_INET, socket.AF_INET6):
        return "127.0.0.1"
    return str(listener.getsockname()[0])


def open_unix(path: Path, backlog: int) -> socket.socket:
    """Listen on a Unix socket, with the permissions that the umask leaves.

    A socket that a server left behind is replaced.

    Raises:
        ConfigError: somebody listens there, or the place cannot be used.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.is_socket():
            _remove_dead(path)
        listener.bind(str(path))
        listener.listen(backlog)
    except OSError as error:
        listener.close()
        raise ConfigError(f"http.uds: cannot listen on {path}: {_reason(error)}") from None
    return listener


def close_unix(path: Path, listener: socket.socket) -> None:
    """Close a Unix socket, and remove its file unless another server has replaced it."""
    listener.close()
    if path.is_socket():
        _remove_dead(path, quietly=True)


def _remove_dead(path: Path, *, quietly: bool = False) -> None:
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return
        except FileNotFoundError:
            return
    if not quietly:
        raise ConfigError(f"http.uds: another server listens on {path}")


def _listener(descriptor: int, field: str) -> socket.socket:
    try:
        found = socket.socket(fileno=descriptor)
    except OSError as error:
        raise ConfigError(f"{field}: descriptor {descriptor}: {_reason(error)}") from None
    listening = found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    if found.type is not socket.SOCK_STREAM or not listening:
        found.detach()
        raise ConfigError(f"{field}: descriptor {descriptor} is no socket that listens for streams")
    found.setblocking(False)
    return found


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
