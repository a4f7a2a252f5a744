"""What a configuration says, table by table, with its defaults."""

from collections.abc import Mapping
from pathlib import Path

import attrs

from gateway_core.config import rules
from gateway_core.config.model.deciding import (
    UNREADABLE,
    DecideConfig,
    DecisionLogConfig,
    MiddlewareConfig,
)
from gateway_core.config.model.providers import API_FORMATS, PluginsConfig, ProviderConfig
from gateway_core.config.model.serving import (
    MEBIBYTE,
    HttpConfig,
    LimitsConfig,
    LogConfig,
    OrgConfig,
)

__all__ = [
    "API_FORMATS",
    "MEBIBYTE",
    "UNREADABLE",
    "Config",
    "DecideConfig",
    "DecisionLogConfig",
    "HttpConfig",
    "LimitsConfig",
    "LogConfig",
    "MiddlewareConfig",
    "OrgConfig",
    "PluginsConfig",
    "ProviderConfig",
]


@attrs.frozen(kw_only=True)
class Config:
    """A whole configuration.

    Attributes:
        source: the file that was read, or None when there is none.
        include: files that hold more organizations, such as ``orgs.d/*.toml``; they hold nothing
            else, and their relative paths start where those of this file do.
        decide: the chain, its bounds and its thresholds.
        providers: the operator's providers, by name, in order.
        middleware: settings of decision middleware, by name.
        plugins: what is installed and not to be used.
        http: the HTTP server.
        orgs: the organizations of the relay, by name.
        log: what goes to stderr.
        decision_log: what is kept of every decision.
    """

    source: Path | None = None
    include: tuple[str, ...] = attrs.field(default=(), validator=rules.distinct)
    decide: DecideConfig = attrs.field(factory=DecideConfig)
    providers: Mapping[str, ProviderConfig] = attrs.field(factory=dict)
    middleware: Mapping[str, MiddlewareConfig] = attrs.field(factory=dict)
    plugins: PluginsConfig = attrs.field(factory=PluginsConfig)
    http: HttpConfig = attrs.field(factory=HttpConfig)
    orgs: Mapping[str, OrgConfig] = attrs.field(factory=dict)
    log: LogConfig = attrs.field(factory=LogConfig)
    decision_log: DecisionLogConfig = attrs.field(factory=DecisionLogConfig)
