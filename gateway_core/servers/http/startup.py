"""What is checked and said before the first request."""

import logging
import ssl
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from gateway_core.config.load import Loaded
from gateway_core.config.model import HttpConfig, LimitsConfig
from gateway_core.door.keys.file import keys_path, read_keys
from gateway_core.door.keys.record import KeyRecord
from gateway_core.door.keys.store import KeyStore
from gateway_core.door.limits.limiter import open_limiter
from gateway_core.errors import ConfigError
from gateway_core.loopback import is_loopback

_log: Final = logging.getLogger("s1gw.http")


def check(http: HttpConfig) -> Sequence[KeyRecord]:
    """Return the keys that work now; none while authentication is disabled.

    Raises:
        ConfigError: something must not be served, or cannot; each fault has its way out.
    """
    faults = [*_exposure(http), *_tls_faults(http)]
    if faults:
        raise ConfigError(*faults)
    # The processes that serve open one of their own; a fault in it is told before they start.
    open_limiter(http)
    if http.auth == "disabled":
        return ()
    KeyStore()
    now = datetime.now(UTC)
    return [key for key in read_keys(keys_path()) if key.state(now) == "active"]


def warn(loaded: Loaded, keys: Sequence[KeyRecord]) -> None:
    """Say what the operator should know of a configuration that is served all the same."""
    for fault in loaded.faults:
        _log.warning("configuration: %s", fault)
    for warning in _warnings(loaded, keys):
        _log.warning("%s", warning)


def _warnings(loaded: Loaded, keys: Sequence[KeyRecord]) -> Iterator[str]:
    http, orgs = loaded.config.http, loaded.config.orgs
    if http.auth == "disabled":
        yield (
            "authentication is disabled: whoever reaches this address uses the operator's"
            " providers, and there is no isolation of organizations"
        )
        return
    if not keys:
        yield "there are no keys, so that every call is refused: s1gw keys create --org NAME"
    if not any(org.providers for org in orgs.values()):
        yield "no organization has a provider: add [orgs.NAME.providers.ID] to the configuration"
    limited = any(org.limits != LimitsConfig() for org in orgs.values())
    limited = limited or any(key.rpm or key.concurrency for key in keys)
    if http.workers > 1 and http.limits_store is None and limited:
        yield (
            f"each of the {http.workers} workers counts limits for itself: set"
            " http.limits_store to count them together"
        )


def _exposure(http: HttpConfig) -> Iterator[str]:
    if http.auth == "disabled" and not http.open_to_network and not is_loopback(http.host):
        yield (
            "http.host: with auth disabled only loopback is served; set auth to keys, or say"
            " --open-to-network if everyone who can reach this address may use the providers"
        )


def _tls_faults(http: HttpConfig) -> Iterator[str]:
    if (http.tls_certificate is None) != (http.tls_key is None):
        yield "http.tls_certificate and http.tls_key: set both, or neither"
    elif http.tls_certificate is not None:
        yield from _unusable(http.tls_certificate, http.tls_key)


def _unusable(certificate: Path, key: Path | None) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # Nobody is there to be asked for the password of a key.
        context.load_cert_chain(certificate, key, password="")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        yield f"http.tls_certificate and http.tls_key cannot be used: {reason}"
