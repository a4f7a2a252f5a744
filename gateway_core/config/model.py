"""What a configuration says, table by table, with its defaults."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from gateway_core.secret import Secret

MEBIBYTE = 1024 * 1024


@attrs.frozen(kw_only=True)
class DecideConfig:
    """``[decide]``: the chain that answers a question.

    Attributes:
        chain: provider names in the order they are tried; None means whatever is installed
            and usable as it stands.
        timeout_s: the time one attempt may take, in seconds.
        deadline_s: the time the whole call may take, in seconds.
        threshold: the confidence below which the gateway abstains, in [0, 1].
        thresholds: thresholds of single providers, by name.
        abstain_when_truncated: abstain when a provider says it cut the input.
    """

    chain: tuple[str, ...] | None = None
    timeout_s: float = 5.0
    deadline_s: float = 25.0
    threshold: float = 0.6
    thresholds: Mapping[str, float] = attrs.field(factory=dict)
    abstain_when_truncated: bool = False


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
    api_format: str | None = None
    base_url: str | None = None
    prefix: str | None = None
    api_key: Secret | None = None
    models: tuple[str, ...] = ()
    enabled: bool = True
    timeout_s: float | None = None
    headers: Mapping[str, str | Secret] = attrs.field(factory=dict)
    max_concurrency: int | None = None
    settings: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class PluginsConfig:
    """``[plugins]``: dialects or distributions that are not to be used."""

    disabled: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class LimitsConfig:
    """``limits``: requests a minute and requests under way; None for no bound."""

    rpm: int | None = None
    concurrency: int | None = None


@attrs.frozen(kw_only=True)
class OrgConfig:
    """``[orgs.NAME]``: one organization of the relay.

    Attributes:
        providers: its own providers, by id, in order.
        limits: what all its keys together may do.
        allow_private: whether its base URLs may point into private address ranges.
    """

    providers: Mapping[str, ProviderConfig] = attrs.field(factory=dict)
    limits: LimitsConfig = LimitsConfig()
    allow_private: bool = False


@attrs.frozen(kw_only=True)
class HttpConfig:
    """``[http]``: the HTTP server.

    Attributes:
        host: the address it listens on.
        port: the port it listens on.
        auth: ``keys``, or ``disabled`` when the operator is the only customer.
        max_body_bytes: the largest request body, before and after decompression.
        timeout_s: the time one relayed call may take, in seconds, unless its provider says.
        workers: server processes.
        drain_s: how long requests under way may go on after SIGTERM, in seconds.
        tls_certificate: a PEM file, to serve TLS.
        tls_key: the certificate's PEM key file.
        limits_store: where limits are counted: ``memory://`` or a Redis or Valkey URL.
        limits_store_down: ``local`` to go on with limits of this process, or ``refuse``.
        allowed_hosts: Host and Origin names that ``/mcp`` takes beside loopback.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    auth: str = "keys"
    max_body_bytes: int = 32 * MEBIBYTE
    timeout_s: float = 60.0
    workers: int = 1
    drain_s: float = 30.0
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    limits_store: Secret | None = None
    limits_store_down: str = "local"
    allowed_hosts: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class LogConfig:
    """``[log]``: what goes to stderr: ``format`` is ``text`` or ``json``."""

    format: str = "text"
    level: str = "info"


@attrs.frozen(kw_only=True)
class Config:
    """A whole configuration.

    Attributes:
        source: the file that was read, or None when there is none.
        providers: the operator's providers, by name, in order.
    """

    source: Path | None = None
    decide: DecideConfig = DecideConfig()
    providers: Mapping[str, ProviderConfig] = attrs.field(factory=dict)
    plugins: PluginsConfig = PluginsConfig()
    orgs: Mapping[str, OrgConfig] = attrs.field(factory=dict)
    http: HttpConfig = HttpConfig()
    log: LogConfig = LogConfig()
