"""Which of the known servers a configuration means, and what it changes about it."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import attrs

from s1gw_generic_systemone.hosted import HOSTED
from s1gw_generic_systemone.self_hosted import SELF_HOSTED
from s1gw_generic_systemone.server import Server
from s1gw_generic_systemone.settings import Settings

ANY: Final = Server()
KNOWN: Final[Mapping[str, Server]] = {server.name: server for server in HOSTED + SELF_HOSTED}


def resolve(settings: Settings, base_url: str | None) -> Server:
    """Return the server that ``settings`` names or ``base_url`` suggests, with the overrides."""
    chosen = KNOWN[settings.server] if settings.server else suggested(base_url)
    return attrs.evolve(chosen, **settings.overrides())


def suggested(base_url: str | None) -> Server:
    """Return the known server at the host of ``base_url``, or what to expect of any other."""
    try:
        host = (urlsplit(base_url or "").hostname or "").rstrip(".")
    except ValueError:
        return ANY
    return next((server for server in HOSTED if _is_at(server, host)), ANY)


def _is_at(server: Server, host: str) -> bool:
    return any(
        host.endswith(known) if known.startswith(".") else host == known for known in server.hosts
    )
