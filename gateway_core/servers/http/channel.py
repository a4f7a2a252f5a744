"""What a supervisor and a worker say to each other, over a pipe that nobody else can open."""

import copyreg
import io
import pickle
from multiprocessing.connection import Connection
from typing import Any, Literal

import attrs

from gateway_core.secret import Secret

Order = Literal["begin", "prepare", "commit", "abandon", "faults", "now"]
"""What a worker is told: the configuration to begin with, the next one to build, to serve or to
forget, why a reload was refused, to end at once."""
Report = Literal["ready", "prepared", "refused"]
"""What a worker says: requests are taken; the next configuration is built, or cannot be."""


@attrs.frozen
class Said:
    """One message.

    Attributes:
        kind: what it is.
        value: what goes with it: a configuration, or faults.
    """

    kind: Order | Report
    value: Any = None


def _reveal(secret: Secret) -> tuple[type[Secret], tuple[str]]:
    return Secret, (secret.reveal(),)


class _Pickler(pickle.Pickler):
    """Serialises credentials, which refuse that everywhere else: they stay on this machine."""

    dispatch_table = {**copyreg.dispatch_table, Secret: _reveal}  # noqa: RUF012 - pickle's name


class Channel:
    """One end of the pipe between a supervisor and a worker."""

    def __init__(self, connection: "Connection[bytes, bytes]") -> None:
        """Take the connection."""
        self._connection = connection

    def fileno(self) -> int:
        """Return the descriptor, which can be read from when there is a message, or the end."""
        return self._connection.fileno()

    def send(self, kind: Order | Report, value: Any = None) -> None:
        """Send a message.

        Raises:
            OSError: the other end is gone.
        """
        content = io.BytesIO()
        _Pickler(content).dump(Said(kind, value))
        self._connection.send_bytes(content.getbuffer())

    def receive(self) -> Said:
        """Wait for a message and return it.

        Raises:
            EOFError: the other end is gone.
            OSError: the same, in the midst of a message.
        """
        found: Said = pickle.loads(self._connection.recv_bytes())  # noqa: S301 - our own process
        return found

    def close(self) -> None:
        """Close this end."""
        self._connection.close()
