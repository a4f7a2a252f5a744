"""Everything that can be found wrong with a configuration without asking anybody."""

import attrs

from gateway_core.catalog import Catalog
from gateway_core.cli.running import run
from gateway_core.config.loaded import Loaded
from gateway_core.config.model import HttpConfig
from gateway_core.errors import ConfigError
from gateway_core.outbound import Outbound
from gateway_core.registry import Registry
from gateway_core.reports.faults import every_fault


@attrs.frozen
class Findings:
    """What was found.

    Attributes:
        faults: what the server would refuse, or would fail the first request.
        notes: what is served, and probably not meant so.
    """

    faults: list[str]
    notes: list[str]


def look_through(loaded: Loaded) -> Findings:
    """Return what is wrong with ``loaded``, after building what is in use; imports plugins.

    Args:
        loaded: the configuration; credentials need not have been read.
    """
    faults = run(_built_faults(loaded))
    if not _is_for_http(loaded):
        return Findings(faults, [])
    # A broken [http] is refused as a whole, and its other keys may depend on the broken ones.
    if "http" not in loaded.broken:
        faults += _http_faults(loaded)
    return Findings(list(dict.fromkeys(faults)), _notes(loaded))


async def _built_faults(loaded: Loaded) -> list[str]:
    outbound = Outbound(loaded.environ)
    try:
        catalog = Catalog.installed(loaded.config.plugins.disabled)
        return every_fault(Registry(loaded, catalog, outbound))
    finally:
        await outbound.aclose()


def _is_for_http(loaded: Loaded) -> bool:
    """Say whether anything in the file is for the HTTP server."""
    return bool(loaded.config.http != HttpConfig() or loaded.config.orgs or loaded.dropped_of)


def _http_faults(loaded: Loaded) -> list[str]:
    from gateway_core.servers.http.startup import startup_faults

    http = loaded.config.http
    if loaded.credentials_unread and http.tls_certificate is not None and http.tls_key is not None:
        # Where no credentials are, there is no certificate's key either.
        http = attrs.evolve(http, tls_certificate=None, tls_key=None)
    return startup_faults(http)


def _notes(loaded: Loaded) -> list[str]:
    from gateway_core.servers.http.startup import notes, working_keys

    try:
        keys = working_keys(loaded.config.http)
    except ConfigError:
        # It is among the faults.
        keys = ()
    return list(notes(loaded, keys))
