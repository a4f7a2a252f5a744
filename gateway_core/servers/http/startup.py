"""What is checked and said before the first request."""

import logging
import os
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from gateway_core.config.load import Loaded
from gateway_core.config.model import HttpConfig, LimitsConfig
from gateway_core.door.keys.file import keys_path, read_keys
from gateway_core.door.keys.record import KeyRecord
from gateway_core.door.keys.store import KeyStore
from gateway_core.door.limits.limiter import open_limiter
from gateway_core.errors import ConfigError
from gateway_core.loopback import is_loopback, literal
from gateway_core.servers.http.tls import TlsPair
from gateway_core.servers.http.watching import check_watching
from gateway_core.structure.secrets import UNREAD

_log: Final = logging.getLogger("s1gw.http")
_HOST: Final = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*")
_LONGEST_SOCKET_PATH: Final = 107
"""Linux's ``sun_path`` less the byte that ends it, unix(7)."""


def startup_faults(http: HttpConfig, addresses: Sequence[str] = ()) -> list[str]:
    """Return all that keeps the server from starting, each with its key and its way out.

    It is what ``s1gw serve --http`` and ``s1gw config check`` have in common: nothing is opened,
    bound or asked.

    Args:
        http: ``[http]``.
        addresses: the addresses of sockets that were inherited, in place of ``http.host``.
    """
    looks = (_check_host, _check_socket_path, _check_tls, check_watching, _check_store, _check_keys)
    return [*_exposure(http, addresses), *(line for look in looks for line in _lines(look, http))]


def check(http: HttpConfig, addresses: Sequence[str] = ()) -> None:
    """Raise ``ConfigError`` with every one of ``startup_faults``, if there are any."""
    if faults := startup_faults(http, addresses):
        raise ConfigError(*faults)


def working_keys(http: HttpConfig) -> Sequence[KeyRecord]:
    """Return the keys that work now; none while authentication is disabled.

    Raises:
        ConfigError: the key file cannot be read.
    """
    if http.auth == "disabled":
        return ()
    now = datetime.now(UTC)
    return [key for key in read_keys(keys_path()) if key.state(now) == "active"]


def warn(loaded: Loaded, keys: Sequence[KeyRecord]) -> None:
    """Say what the operator should know of a configuration that is served all the same."""
    for fault in loaded.faults:
        _log.warning("configuration: %s", fault)
    for warning in _warnings(loaded, keys):
        _log.warning("%s", warning)


def _warnings(loaded: Loaded, keys: Sequence[KeyRecord]) -> Iterator[str]:
    if loaded.config.http.auth == "disabled":
        yield (
            "authentication is disabled: whoever reaches this address uses the operator's"
            " providers, and there is no isolation of organizations"
        )
    elif not keys:
        yield "there are no keys, so that every call is refused: s1gw keys create --org NAME"
    yield from notes(loaded, keys)


def notes(loaded: Loaded, keys: Sequence[KeyRecord]) -> Iterator[str]:
    """Yield what is served, and probably not meant so.

    Args:
        loaded: the configuration.
        keys: the keys that work now.
    """
    http, orgs = loaded.config.http, loaded.config.orgs
    if http.auth == "disabled":
        return
    if not loaded.dropped_of and not any(org.providers for org in orgs.values()):
        yield "no organization has a provider: add [orgs.NAME.providers.ID] to the configuration"
    limited = any(org.limits != LimitsConfig() for org in orgs.values())
    limited = limited or any(key.rpm or key.concurrency for key in keys)
    if http.workers > 1 and http.limits_store is None and limited:
        yield (
            f"each of the {http.workers} workers counts limits for itself: set"
            " http.limits_store to count them together"
        )


def _lines(look: Callable[[HttpConfig], object], http: HttpConfig) -> Sequence[str]:
    try:
        look(http)
    except ConfigError as error:
        return error.faults
    return ()


def _exposure(http: HttpConfig, addresses: Sequence[str]) -> Iterator[str]:
    if http.auth != "disabled" or http.open_to_network or http.uds is not None:
        return
    if not all(map(is_loopback, addresses or (http.host,))):
        yield (
            "http.host: with auth disabled only loopback is served; set auth to keys, or say"
            " --open-to-network if everyone who can reach this address may use the providers"
        )


def _check_host(http: HttpConfig) -> None:
    """Refuse what no resolver takes, whatever it knows: without asking one."""
    host = http.host.rstrip(".")
    if http.uds is not None or http.fd is not None or literal(host) is not None:
        return
    try:
        name = host.encode("idna").decode("ascii")
    except UnicodeError:
        name = ""
    if not _HOST.fullmatch(name):
        raise ConfigError(
            "http.host: is no host name or address; a port stands in http.port, and an address of"
            " IPv6 has no brackets"
        )


def _check_socket_path(http: HttpConfig) -> None:
    if http.uds is None or http.fd is not None:
        return
    if len(os.fsencode(http.uds)) > _LONGEST_SOCKET_PATH:
        raise ConfigError(f"http.uds: is longer than {_LONGEST_SOCKET_PATH} bytes")
    if not http.uds.parent.is_dir():
        raise ConfigError("http.uds: its folder does not exist")
    if http.uds.exists() and not http.uds.is_socket():
        raise ConfigError("http.uds: is there already, and is no socket")


def _check_tls(http: HttpConfig) -> None:
    TlsPair.of(http)


def _check_store(http: HttpConfig) -> None:
    if http.limits_store != UNREAD:
        # The processes that serve open one of their own.
        open_limiter(http)


def _check_keys(http: HttpConfig) -> None:
    if http.auth != "disabled":
        KeyStore()
