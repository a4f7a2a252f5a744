"""What a configuration says, table by table, with its defaults."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from gateway_core.config import rules
from gateway_core.secret import Secret
from gateway_core.types import Format

MEBIBYTE: Final = 1024 * 1024
API_FORMATS: Final[Mapping[str, Format]] = {
    "systemone": Format.SYSTEMONE,
    "typesafe": Format.SYSTEMONE,
    "openai": Format.OPENAI,
}
"""What ``api_format`` may say, and the wire format that it means."""
LOG_LEVELS: Final = ("debug", "info", "warning", "error")
UNREADABLE: Final = "*"
"""What stands in ``decide.middleware`` when it cannot be read; nothing is ever called so."""


@attrs.frozen(kw_only=True)
class DecideConfig:
    """``[decide]``: the chain that answers a question.

    Attributes:
        chain: provider names in the order in which they are asked; when absent, whatever is
            usable as it stands.
        middleware: what every question passes through on its way to the chain, outermost first.
        timeout_s: the time one attempt may take, in seconds.
        deadline_s: the time the whole call may take, in seconds.
        threshold: the confidence below which the gateway abstains, in [0, 1].
        thresholds: thresholds of single providers, by name.
        abstain_when_truncated: abstain when a provider says it cut the input.
        order_check: providers asked a second time with the options reversed.
        tournament: providers asked about more options than they take, in groups.
        order_unstable: what an answer that changes with the options' order comes to:
            ``abstain``, or the ``mean`` of the probabilities.
    """

    chain: tuple[str, ...] | None = attrs.field(default=None, validator=rules.distinct)
    middleware: tuple[str, ...] = attrs.field(default=(), validator=rules.distinct)
    timeout_s: float = attrs.field(default=5.0, validator=rules.positive)
    deadline_s: float = attrs.field(default=25.0, validator=rules.positive)
    threshold: float = attrs.field(default=0.6, validator=rules.probability)
    thresholds: Mapping[str, float] = attrs.field(factory=dict, validator=rules.probabilities)
    abstain_when_truncated: bool = False
    order_check: tuple[str, ...] = attrs.field(default=(), validator=rules.distinct)
    tournament: tuple[str, ...] = attrs.field(default=(), validator=rules.distinct)
    order_unstable: str = attrs.field(default="abstain", validator=rules.one_of("abstain", "mean"))


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
class MiddlewareConfig:
    """``[middleware.NAME]``: the middleware of that name, for use in ``decide.middleware``.

    Attributes:
        settings: its own keys.
    """

    settings: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class PluginsConfig:
    """``[plugins]``: what is installed and not to be used.

    Attributes:
        disabled: dialects or distributions that are never imported; ``*`` for all.
    """

    disabled: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class LimitsConfig:
    """``limits``: bounds of a key or an organization; an absent one does not bound.

    Attributes:
        rpm: requests a minute.
        concurrency: requests under way at once.
    """

    rpm: int | None = attrs.field(default=None, validator=rules.positive_count)
    concurrency: int | None = attrs.field(default=None, validator=rules.positive_count)


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
        open_to_network: whether to listen beyond loopback although auth is disabled.
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
    port: int = attrs.field(default=8080, validator=rules.port)
    auth: str = attrs.field(default="keys", validator=rules.one_of("keys", "disabled"))
    open_to_network: bool = False
    max_body_bytes: int = attrs.field(default=32 * MEBIBYTE, validator=rules.positive_count)
    timeout_s: float = attrs.field(default=60.0, validator=rules.positive)
    workers: int = attrs.field(default=1, validator=rules.positive_count)
    drain_s: float = attrs.field(default=30.0, validator=rules.not_negative)
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    limits_store: Secret | None = None
    limits_store_down: str = attrs.field(default="local", validator=rules.one_of("local", "refuse"))
    allowed_hosts: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class LogConfig:
    """``[log]``: what goes to stderr.

    Attributes:
        format: one readable line, or one JSON object, for each event.
        level: the least important lines that are shown.
    """

    format: str = attrs.field(default="text", validator=rules.one_of("text", "json"))
    level: str = attrs.field(default="info", validator=rules.one_of(*LOG_LEVELS))


@attrs.frozen(kw_only=True)
class DecisionLogConfig:
    """``[decision_log]``: what is kept, on this machine alone, of every decision.

    Attributes:
        enabled: whether decisions are logged.
        path: the SQLite file; in the gateway's own state when absent.
        content: whether questions, options and contexts are kept, not only their digests.
        max_mb: the size that the file is held to, in mebibytes.
        max_age_days: how long an entry is kept, in days.
        shadow: providers asked beside the chain, off the critical path, to be compared.
    """

    enabled: bool = False
    path: Path | None = None
    content: bool = False
    max_mb: int = attrs.field(default=256, validator=rules.positive_count)
    max_age_days: float = attrs.field(default=365.0, validator=rules.positive)
    shadow: tuple[str, ...] = attrs.field(default=(), validator=rules.distinct)


@attrs.frozen(kw_only=True)
class Config:
    """A whole configuration.

    Attributes:
        source: the file that was read, or None when there is none.
        providers: the operator's providers, by name, in order.
        middleware: settings of decision middleware, by name.
    """

    source: Path | None = None
    decide: DecideConfig = DecideConfig()
    providers: Mapping[str, ProviderConfig] = attrs.field(factory=dict)
    middleware: Mapping[str, MiddlewareConfig] = attrs.field(factory=dict)
    plugins: PluginsConfig = PluginsConfig()
    orgs: Mapping[str, OrgConfig] = attrs.field(factory=dict)
    http: HttpConfig = HttpConfig()
    log: LogConfig = LogConfig()
    decision_log: DecisionLogConfig = DecisionLogConfig()
