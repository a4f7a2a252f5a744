"""What a provider's endpoint holds that no caller sees: secrets, and where it is."""

from typing import Final
from urllib.parse import urlsplit

from gateway_core.context import Endpoint
from gateway_core.secret import Secret

_SHORTEST_PART: Final = 8
"""A shorter word after a scheme may be any word."""


def held_secrets(endpoint: Endpoint) -> tuple[Secret, ...]:
    """Return what ``endpoint`` holds, and of a header such as ``Bearer KEY`` the key as well."""
    values = (endpoint.api_key, *endpoint.headers.values())
    held = [value for value in values if isinstance(value, Secret)]
    parts = [value.reveal().rpartition(" ")[2] for value in held]
    return tuple({*held, *(Secret(part) for part in parts if len(part) >= _SHORTEST_PART)})


def own_hosts(endpoint: Endpoint) -> frozenset[str]:
    """Return the host of the endpoint's URL, if it has a usable one."""
    try:
        host = urlsplit(endpoint.base_url or "").hostname
    except ValueError:
        return frozenset()
    return frozenset([host.rstrip(".")]) if host else frozenset()
