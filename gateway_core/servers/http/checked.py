"""The configuration that is served: read once, checked, and handed on as it is."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

import attrs

from gateway_core.config.load import Loaded, load_config
from gateway_core.config.model import HttpConfig
from gateway_core.config.paths import config_path
from gateway_core.errors import ConfigError
from gateway_core.servers.http.startup import check
from gateway_core.servers.http.tls import TlsPair
from gateway_core.structure.faults import RefusedValueError

FIXED: Final = (
    "host",
    "port",
    "uds",
    "fd",
    "reuse_port",
    "workers",
    "max_connections",
    "max_connections_per_address",
    "reload",
)
"""The keys of ``[http]`` that are read at the start alone."""


@attrs.frozen(kw_only=True)
class Options:
    """What the command line says, and what is known of the place to listen on.

    Attributes:
        config_path: the configuration file, or None for the usual place.
        overrides: values in place of those of ``[http]``, by attribute.
        addresses: the addresses of sockets that were inherited, in place of ``http.host``.
    """

    config_path: Path | None = None
    overrides: dict[str, Any] = attrs.field(factory=dict)
    addresses: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """Where the configuration file is, or would be."""
        return self.config_path or config_path()

    def load(self) -> Loaded:
        """Read the configuration, with the command line's values in it."""
        loaded = load_config(self.config_path, dict(os.environ))
        http = attrs.evolve(loaded.config.http, **self.overrides)
        return attrs.evolve(loaded, config=attrs.evolve(loaded.config, http=http))

    def files(self, loaded: Loaded) -> frozenset[Path]:
        """Return the files that ``loaded`` was made of, whether they could be read or not."""
        http = loaded.config.http
        tls = filter(None, (http.tls_certificate, http.tls_key))
        return frozenset((self.path, *loaded.included, *loaded.files, *tls))


@attrs.frozen(kw_only=True)
class Checked:
    """A configuration that may be served, with the files of its credentials.

    Attributes:
        loaded: the configuration.
        tls: the certificate and its key, to serve TLS.
    """

    loaded: Loaded
    tls: TlsPair | None

    @classmethod
    def of(cls, options: Options, loaded: Loaded) -> Self:
        """Check a configuration, and read the files that it names.

        Raises:
            ConfigError: it must not be served, or cannot be; each fault has its way out.
        """
        if "http" in loaded.broken:
            # What is open to others is not served by defaults that nobody chose.
            raise ConfigError(*loaded.faults)
        check(loaded.config.http, options.addresses)
        _read_ahead(loaded)
        return cls(loaded=loaded, tls=TlsPair.of(loaded.config.http))

    @property
    def http(self) -> HttpConfig:
        """``[http]``."""
        return self.loaded.config.http

    def again(self, options: Options, loaded: Loaded) -> tuple[Self, Sequence[str]]:
        """Check a configuration for processes that serve this one.

        Args:
            options: what this one was checked with.
            loaded: what was read since.

        Returns:
            What may be served in place of this one, and the keys that have changed in the file
            and keep their values all the same, since they are read at the start alone.

        Raises:
            ConfigError: it must not be served, or has faults that this one does not have.
        """
        if faults := [fault for fault in loaded.faults if fault not in self.loaded.faults]:
            raise ConfigError(*faults)
        kept = {name: getattr(self.http, name) for name in FIXED}
        if (loaded.config.http.tls_certificate is None) != (self.tls is None):
            # Whether connections are secured was settled when the sockets were opened.
            kept |= {"tls_certificate": self.http.tls_certificate, "tls_key": self.http.tls_key}
        found = loaded.config.http
        changed = [f"http.{name}" for name, value in kept.items() if getattr(found, name) != value]
        http = attrs.evolve(found, **kept)
        loaded = attrs.evolve(loaded, config=attrs.evolve(loaded.config, http=http))
        return type(self).of(options, loaded), changed


def _read_ahead(loaded: Loaded) -> None:
    """Read what plugins' own settings name, so that every process gets the same.

    What cannot be read is told by whoever builds the plugin.
    """
    config = loaded.config
    tables = [table.settings for table in config.providers.values()]
    for org in config.orgs.values():
        tables += [table.settings for table in org.providers.values()]
    tables += [table.settings for table in config.middleware.values()]
    for path in _files(tables):
        with suppress(OSError, ValueError, RefusedValueError):
            loaded.sources.text(path)


def _files(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, Mapping):
            if isinstance(found := value.get("file"), str) and len(value) == 1:
                yield found
            else:
                yield from _files(value.values())
        elif isinstance(value, list | tuple):
            yield from _files(value)
