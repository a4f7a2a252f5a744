"""The certificate that connections are secured with, which can be replaced while they run."""

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import attrs

from gateway_core.config.model import HttpConfig
from gateway_core.errors import ConfigError

_FIELDS = "http.tls_certificate and http.tls_key"


@attrs.frozen
class TlsPair:
    """A certificate chain and its key, PEM, as they were read together and checked.

    Attributes:
        certificate: the chain.
        key: the key; not shown.
    """

    certificate: bytes = attrs.field(repr=False)
    key: bytes = attrs.field(repr=False)

    @classmethod
    def of(cls, http: HttpConfig) -> Self | None:
        """Read the files that ``[http]`` names; return None when it names none.

        Raises:
            ConfigError: only one is named, or they cannot be used together.
        """
        if http.tls_certificate is None and http.tls_key is None:
            return None
        if http.tls_certificate is None or http.tls_key is None:
            raise ConfigError(f"{_FIELDS}: set both, or neither")
        try:
            found = cls(_read(http.tls_certificate), _read(http.tls_key))
            found.context()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ConfigError(f"{_FIELDS} cannot be used: {reason}") from None
        return found

    def context(self) -> ssl.SSLContext:
        """Return what secures a server's connections.

        Raises:
            OSError: the pair cannot be used.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with _file_of(self.certificate) as certificate, _file_of(self.key) as key:
            # Nobody is there to be asked for the password of a key.
            context.load_cert_chain(certificate, key, password="")
        return context


class ServerTls:
    """Secures connections with the pair that was given last.

    Attributes:
        context: what the listening sockets use, from beginning to end.
    """

    def __init__(self, pair: TlsPair) -> None:
        """Begin with a pair."""
        self._current = self.context = pair.context()
        # Called in every handshake, whether or not the client names a server.
        self.context.sni_callback = self._choose

    def renew(self, pair: TlsPair) -> None:
        """Secure new connections with another pair; those that are open go on as they are."""
        self._current = pair.context()

    def _choose(self, connection: ssl.SSLObject, _name: str | None, _: ssl.SSLContext) -> None:
        connection.context = self._current


def _read(path: Path) -> bytes:
    return path.read_bytes()


@contextmanager
def _file_of(content: bytes) -> Iterator[str]:
    """Give a file that holds ``content``, since OpenSSL's loader takes nothing but files."""
    if hasattr(os, "memfd_create"):
        with open(os.memfd_create("s1gw-tls"), "w+b") as file:  # noqa: PTH123 - a descriptor
            file.write(content)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"
        return
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        yield file.name
