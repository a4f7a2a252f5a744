"""What is asked: providers, and which of the installed plugins are not to be used."""

from collections.abc import Mapping
from typing import Any, Final

import attrs

from gateway_core.config import rules
from gateway_core.secret import Secret
from gateway_core.types import Format

API_FORMATS: Final[Mapping[str, Format]] = {
    "systemone": Format.SYSTEMONE,
    "typesafe": Format.SYSTEMONE,
    "openai": Format.OPENAI,
}
"""What ``api_format`` may say, and the wire format that it means."""


@attrs.frozen(kw_only=True)
class ProviderConfig:
    """``[providers.NAME]`` and ``[orgs.ORG.providers.NAME]``: one provider.

    Attributes:
        dialect: the plugin's dialect; an alternative to ``api_format``.
        api_format: ``systemone`` (or its alias ``typesafe``) or ``openai``; the dialect then
            follows from the base URL's host, the provider's name, or is the format's generic one.
        base_url: where the provider lives; the dialect's own default when absent.
        prefix: the API prefix; absent means ``/v1``, an empty string means none.
        api_key: the credential.
        models: the models it serves; the first is the one that the decide chain asks.
        enabled: whether it takes part.
        timeout_s: the time one attempt may take, in seconds.
        headers: extra headers for every request.
        max_concurrency: the most requests under way at once.
        settings: the dialect's own keys.
    """

    dialect: str | None = None
    api_format: str | None = attrs.field(default=None, validator=rules.one_of(*API_FORMATS))
    base_url: str | None = None
    prefix: str | None = None
    api_key: Secret | None = None
    models: tuple[str, ...] = attrs.field(default=(), validator=rules.distinct)
    enabled: bool = True
    timeout_s: float | None = attrs.field(default=None, validator=rules.positive)
    headers: Mapping[str, str | Secret] = attrs.field(factory=dict, validator=rules.header_table)
    max_concurrency: int | None = attrs.field(default=None, validator=rules.positive_count)
    settings: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class PluginsConfig:
    """``[plugins]``: what is installed and not to be used.

    Attributes:
        disabled: dialects or distributions that are never imported; ``*`` for all.
    """

    disabled: tuple[str, ...] = ()
