"""The provider contract, applied to what is installed and configured."""

from pathlib import Path

import attrs

from gateway_core.catalog import Catalog
from gateway_core.config.load import load_config
from gateway_core.config.loaded import Loaded
from gateway_core.config.model import ProviderConfig
from gateway_core.errors import ConfigError
from gateway_core.outbound import Outbound
from gateway_core.registry import Registry
from gateway_core.registry.dialects import dialect_of
from gateway_core.testing.checks import CheckResult, live_checks, run_checks


@attrs.frozen
class CheckedPlugin:
    """What a name on the command line means.

    Attributes:
        dialect: the dialect to check.
        table: the configured provider that it is checked with; an empty one when none is.
        name: that provider's name, or the dialect's own.
    """

    dialect: str
    table: ProviderConfig
    name: str


def offline_results(config_path: Path | None, name: str) -> list[CheckResult]:
    """Run the checks that need no upstream on a dialect, or a configured provider's dialect.

    Raises:
        ConfigError: nothing so named is installed or configured, or it cannot be imported.
    """
    loaded = load_config(config_path)
    catalog = Catalog.installed(loaded.config.plugins.disabled)
    target = _target(name, loaded, catalog)
    plugin_class = catalog.load(target.dialect)
    models = {"models": target.table.models} if target.table.models else {}
    return run_checks(plugin_class, target.dialect, settings=target.table.settings, **models)


async def live_results(config_path: Path | None, name: str) -> list[CheckResult]:
    """Probe the provider as it is configured and put one tiny question to it.

    Raises:
        ConfigError: it cannot be built.
    """
    loaded = load_config(config_path)
    catalog = Catalog.installed(loaded.config.plugins.disabled)
    outbound = Outbound(loaded.environ)
    try:
        provider = Registry(loaded, catalog, outbound).provider(_target(name, loaded, catalog).name)
        return await live_checks(provider)
    finally:
        await outbound.aclose()


def _target(name: str, loaded: Loaded, catalog: Catalog) -> CheckedPlugin:
    tables = loaded.config.providers
    if name in tables:
        return CheckedPlugin(dialect_of(name, tables[name], catalog), tables[name], name)
    for configured, table in tables.items():
        try:
            if dialect_of(configured, table, catalog) == name:
                return CheckedPlugin(name, table, configured)
        except ConfigError:
            continue  # that table's own fault, which config check reports
    return CheckedPlugin(name, ProviderConfig(), name)
