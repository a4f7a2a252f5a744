"""The TLS settings of every connection, made once, when the first one needs them."""

import ssl
from collections.abc import Mapping

from gateway_core.errors import ProviderUnreachable


class Tls:
    """Whom to trust: ``SSL_CERT_FILE`` and ``SSL_CERT_DIR``, else the system, else certifi."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._file = environ.get("SSL_CERT_FILE") or None
        self._folder = environ.get("SSL_CERT_DIR") or None
        self._context: ssl.SSLContext | None = None

    def context(self) -> ssl.SSLContext:
        """Return the one client context.

        Raises:
            ProviderUnreachable: the trusted certificates cannot be loaded.
        """
        if self._context is None:
            try:
                self._context = self._make()
            except OSError:
                raise ProviderUnreachable(
                    "the certificates that SSL_CERT_FILE and SSL_CERT_DIR name cannot be loaded"
                ) from None
        return self._context

    def _make(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self._file, capath=self._folder)
        context.set_alpn_protocols(["http/1.1"])
        chosen = self._file or self._folder
        if not chosen and not context.cert_store_stats()["x509_ca"]:
            import certifi

            context.load_verify_locations(certifi.where())
        return context
