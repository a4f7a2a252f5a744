"""What is wrong with the environment that the way out is made of, told before the first request."""

from collections.abc import Iterator, Mapping
from typing import Final

from gateway_core.errors import ProviderUnreachable
from gateway_core.outbound.proxies import parse_proxy
from gateway_core.outbound.tls import Tls

_PROXIES: Final = ("http_proxy", "https_proxy", "all_proxy")
_TRUST: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def environment_faults(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each variable that would fail requests; no value is shown.

    Args:
        environ: the environment variables.
    """
    for name in _PROXIES:
        spelled = name if name in environ else name.upper()
        try:
            if url := environ.get(spelled, "").strip():
                parse_proxy(url)
        except ProviderUnreachable as error:
            yield f"environment variable {spelled}: {error}"
    if any(environ.get(name) for name in _TRUST):
        try:
            Tls(environ).context()
        except ProviderUnreachable as error:
            yield f"environment variables SSL_CERT_FILE and SSL_CERT_DIR: {error}"
