"""Where OpenAI on Azure differs: a path of its own and the key in a header of its own."""

from typing import Final
from urllib.parse import urlsplit

import attrs

from gateway_core import Endpoint

_HOSTS: Final = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")


def is_azure(base_url: str | None) -> bool:
    """Whether the host of ``base_url`` is one under which Azure serves OpenAI models."""
    try:
        host = urlsplit(base_url or "").hostname or ""
    except ValueError:
        return False
    return host.rstrip(".").endswith(_HOSTS)


def azure_endpoint(endpoint: Endpoint) -> Endpoint:
    """Give a bare resource URL its prefix, ``openai/v1``; one that has a path keeps it."""
    if endpoint.prefix is not None or endpoint.base_url is None:
        return endpoint
    path = urlsplit(endpoint.base_url).path.strip("/")
    return endpoint if path else attrs.evolve(endpoint, prefix="openai/v1")
