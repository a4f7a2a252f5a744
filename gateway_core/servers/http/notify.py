"""Telling systemd how the server stands (sd_notify(3)); nothing is said where nobody listens."""

import os
import socket
from collections.abc import MutableMapping
from time import monotonic, monotonic_ns
from typing import Final

_MICROSECONDS: Final = 1_000_000


class Notifier:
    """Sends the datagrams of the protocol to ``NOTIFY_SOCKET``."""

    def __init__(self, environ: MutableMapping[str, str]) -> None:
        """Take the protocol's variables out of ``environ``: no other process is to use them."""
        self._address = environ.pop("NOTIFY_SOCKET", "")
        pid, period = environ.pop("WATCHDOG_PID", ""), environ.pop("WATCHDOG_USEC", "")
        watched = pid in ("", str(os.getpid())) and period.isdecimal()
        self._pause_s = int(period) / _MICROSECONDS / 2 if watched else 0.0
        self._told = 0.0

    def ready(self) -> None:
        """Requests are taken, with the configuration that was read last."""
        self._tell("READY=1")

    def reloading(self) -> None:
        """The configuration is read again; ``ready`` follows."""
        self._tell(f"RELOADING=1\nMONOTONIC_USEC={monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """The end has begun."""
        self._tell("STOPPING=1")

    def alive(self) -> None:
        """The event loop turns: said in half of the time that systemd waits for it."""
        if self._pause_s and monotonic() - self._told >= min(self._pause_s, 1.0):
            self._told = monotonic()
            self._tell("WATCHDOG=1")

    def _tell(self, text: str) -> None:
        if not self._address:
            return
        # A name that begins with @ is one of Linux's abstract sockets.
        address = self._address.replace("@", "\0", 1) if self._address[0] == "@" else self._address
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            try:
                sender.sendto(text.encode("ascii"), address)
            except OSError:
                # Whoever asked to be told does not listen; that is no reason to stop serving.
                return
