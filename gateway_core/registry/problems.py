"""What is wrong with the providers that a configuration names, told by metadata alone."""

from collections.abc import Iterator

from gateway_core.catalog import Catalog, PluginKind
from gateway_core.config.model import UNREADABLE, Config, ProviderConfig
from gateway_core.errors import ConfigError
from gateway_core.registry.dialects import dialect_of


def table_problems(config: Config, catalog: Catalog) -> Iterator[str]:
    """Yield the faults of every enabled provider's dialect, and of the disabled plugins' names.

    Nothing is imported: a plugin that breaks on import shows when it is first used.
    """
    for path, name, table in _tables(config):
        if table.enabled:
            try:
                catalog.require(dialect_of(name, table, catalog))
            except ConfigError as error:
                yield from error.with_path_prefix(path).faults
    yield from _middleware_problems(config, catalog)
    for name in catalog.unknown_disabled:
        yield f"plugins.disabled: {name!r} is not installed"


def _middleware_problems(config: Config, catalog: Catalog) -> Iterator[str]:
    for name in config.decide.middleware:
        try:
            if name != UNREADABLE:
                catalog.require(name, PluginKind.MIDDLEWARE)
        except ConfigError as error:
            yield from error.with_path_prefix(f"middleware.{name}").faults
    for name in config.middleware.keys() - set(config.decide.middleware):
        yield f"middleware.{name}: not used; name it in decide.middleware, or remove the table"


def _tables(config: Config) -> Iterator[tuple[str, str, ProviderConfig]]:
    for name, table in config.providers.items():
        yield f"providers.{name}", name, table
    for org, owner in config.orgs.items():
        for name, table in owner.providers.items():
            yield f"orgs.{org}.providers.{name}", name, table
