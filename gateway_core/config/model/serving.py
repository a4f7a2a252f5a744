"""How the gateway serves: over HTTP, to which organizations, and what it says on stderr."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import attrs

from gateway_core.config import rules
from gateway_core.config.model.providers import ProviderConfig
from gateway_core.secret import Secret

MEBIBYTE: Final = 1024 * 1024
LOG_LEVELS: Final = ("debug", "info", "warning", "error")


@attrs.frozen(kw_only=True)
class LimitsConfig:
    """``limits``: bounds of a key or an organization; an absent one does not bound.

    Attributes:
        rpm: requests a minute.
        concurrency: requests under way at once.
    """

    rpm: int | None = attrs.field(default=None, validator=rules.positive_count)
    concurrency: int | None = attrs.field(default=None, validator=rules.positive_count)

    @property
    def bounded(self) -> bool:
        """Whether there is any bound."""
        return self.rpm is not None or self.concurrency is not None


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
        host: the address or name it listens on, at all that it resolves to; ``::`` for every
            address of IPv6 and IPv4.
        port: the port it listens on.
        auth: ``keys``, or ``disabled`` when the operator is the only customer.
        open_to_network: whether to listen beyond loopback although auth is disabled.
        max_body_bytes: the largest request body, before and after decompression.
        max_held_bytes: the most that the bodies of all requests may take together in one process;
            those of the caller with the most are refused first.
        max_connections: the most clients that are connected to one process; by default what its
            limit of open files allows.
        max_connections_per_address: the most from one address; three quarters of them by default.
        timeout_s: the time one relayed call may take, in seconds, unless its provider says.
        workers: server processes.
        drain_delay_s: how long requests are still taken after SIGTERM, while ``/readyz`` says 503
            and each reply ends its connection, in seconds.
        drain_s: how long requests under way may go on after that, in seconds.
        reload: whether a change of the configuration file, of a secret's file or of a certificate
            is applied as soon as it is seen; SIGHUP applies it at any time.
        reuse_port: whether another gateway may listen on the same port, which takes over.
        uds: a Unix socket to listen on, in place of host and port.
        fd: the number of an open descriptor to listen on, in place of host and port.
        tls_certificate: a PEM file, to serve TLS.
        tls_key: the certificate's PEM key file.
        limits_store: where limits are counted: ``memory://`` or a Redis or Valkey URL.
        limits_store_down: ``local`` to go on with limits of this process, or ``refuse``.
        allowed_hosts: Host and Origin names that are taken beside loopback's: by ``/mcp``, and by
            every route that needs a key, when auth is disabled.
    """

    host: str = "127.0.0.1"
    port: int = attrs.field(default=8080, validator=rules.port)
    auth: str = attrs.field(default="keys", validator=rules.one_of("keys", "disabled"))
    open_to_network: bool = False
    max_body_bytes: int = attrs.field(default=32 * MEBIBYTE, validator=rules.positive_count)
    max_held_bytes: int = attrs.field(default=256 * MEBIBYTE, validator=rules.positive_count)
    max_connections: int | None = attrs.field(default=None, validator=rules.positive_count)
    max_connections_per_address: int | None = attrs.field(
        default=None, validator=rules.positive_count
    )
    timeout_s: float = attrs.field(default=60.0, validator=rules.positive)
    workers: int = attrs.field(default=1, validator=rules.positive_count)
    drain_delay_s: float = attrs.field(default=0.0, validator=rules.not_negative)
    drain_s: float = attrs.field(default=30.0, validator=rules.not_negative)
    reload: bool = False
    reuse_port: bool = False
    uds: Path | None = None
    fd: int | None = attrs.field(default=None, validator=rules.count)
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
        probes: whether requests to ``/healthz`` and ``/readyz`` have lines.
    """

    format: str = attrs.field(default="text", validator=rules.one_of("text", "json"))
    level: str = attrs.field(default="info", validator=rules.one_of(*LOG_LEVELS))
    probes: bool = False
