"""What is checked and said before the first request."""

import logging
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
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


def check(http: HttpConfig, addresses: Sequence[str] = ()) -> Sequence[KeyRecord]:
    """Return the keys that work now; none while authentication is disabled.

    Args:
        http: ``[http]``.
        addresses: the addresses of sockets that were inherited, in place of ``http.host``.

    Raises:
        ConfigError: something must not be served, or cannot; each fault has its way out.
    """
    if faults := [*_exposure(http, addresses)]:
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


def _exposure(http: HttpConfig, addresses: Sequence[str]) -> Iterator[str]:
    if http.auth != "disabled" or http.open_to_network or http.uds is not None:
        return
    if not all(map(is_loopback, addresses or (http.host,))):
        yield (
            "http.host: with auth disabled only loopback is served; set auth to keys, or say"
            " --open-to-network if everyone who can reach this address may use the providers"
        )
