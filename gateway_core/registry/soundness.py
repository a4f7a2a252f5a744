"""Whether a provider that was built can be asked as it is configured, judged in one place.

What is found stays with the provider, as its ``fault``: the relay, the decide chain, the health
report, the listing and ``s1gw config check`` all read it there.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from gateway_core.config.model import API_FORMATS, ProviderConfig
from gateway_core.errors import (
    ConfigError,
    DestinationUnusable,
    EndpointUnusable,
    PluginUnavailable,
    ProviderError,
    WrongApiFormat,
)
from gateway_core.outbound import DestinationPolicy
from gateway_core.outbound.target import Target, parse_target
from gateway_core.provider import Provider
from gateway_core.secret import Secret
from gateway_core.structure.secrets import WAY_OUT
from gateway_core.types import Operation
from gateway_core.urls import IN_PROCESS

_CREDENTIAL_HEADERS: Final = frozenset(
    {"authorization", "proxy-authorization", "cookie", "api-key", "x-api-key", "x-auth-token"}
)
_SCHEMES: Final = ("bearer ", "basic ")


def refuse_written_credentials(headers: Mapping[str, str | Secret], path: str) -> None:
    """Refuse extra headers in which a credential is written out.

    Args:
        headers: the extra headers of a provider's table.
        path: where the table stands, such as ``providers.acme``.

    Raises:
        ConfigError: one fault per header that holds one.
    """
    written = [
        name
        for name, value in headers.items()
        if isinstance(value, str)
        and (name.lower() in _CREDENTIAL_HEADERS or value.strip().lower().startswith(_SCHEMES))
    ]
    if written:
        text = f"a credential is never written out in the configuration; {WAY_OUT}"
        raise ConfigError(*(f"{path}.headers.{name}: {text}" for name in written))


def fault_of(provider: Provider, config: ProviderConfig, path: str) -> ConfigError | None:
    """Return what keeps ``provider`` from being asked as its table has it, or None.

    Args:
        provider: the provider that was built.
        config: its table.
        path: where that stands, such as ``providers.acme``.
    """
    return _format_fault(provider, config, path) or _url_fault(provider, path)


def _format_fault(provider: Provider, config: ProviderConfig, path: str) -> ConfigError | None:
    formats = provider.capabilities.formats
    if config.api_format is None or API_FORMATS[config.api_format] in formats:
        return None
    spoken = " or ".join(sorted(formats))
    return WrongApiFormat(
        f"{path}.api_format: the dialect {provider.dialect} speaks {spoken}, not"
        f' "{config.api_format}"; remove api_format, or name another dialect'
    )


def destination_fault(
    provider: Provider, policy: DestinationPolicy | None, path: str
) -> ConfigError | None:
    """Return why ``policy`` turns every request to ``provider`` away, or None.

    Only what the text of its URLs tells is judged: an address, or a name that means this machine
    or a metadata service. What other names stand for is known when they are looked up.

    Args:
        provider: the provider that was built.
        policy: where it may live; None if it may live anywhere.
        path: where its table stands, such as ``orgs.acme.providers.own``.
    """
    if policy is None or provider.fault is not None:
        return None
    if not any(policy.forbids(target.host) for target in _targets(provider)):
        return None
    return EndpointUnusable(
        f"{path}.base_url: the destination policy forbids this host; organizations reach public"
        " addresses, and private ones with allow_private = true, but never this machine"
    )


def _url_fault(provider: Provider, path: str) -> ConfigError | None:
    """Return why one of the provider's models has no URL that could be asked."""
    try:
        list(_targets(provider))
    except DestinationUnusable as error:
        return EndpointUnusable(f"{path}.base_url: {error}")
    except ProviderError as error:
        return PluginUnavailable(f"{path}: {error}")
    return None


def _targets(provider: Provider) -> Iterator[Target]:
    """Yield where the provider's requests go; nothing for one that works in this process."""
    for model in provider.endpoint.models or ("",):
        url = provider.url(Operation.DECIDE, model)
        if not url.startswith(IN_PROCESS):
            yield parse_target(url)
