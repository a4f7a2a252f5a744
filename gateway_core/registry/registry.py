"""Named providers, built on first use and kept; a broken one never stops the others.

A failure that may be over soon, such as having no descriptors, is not kept.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial

from gateway_core.catalog import Catalog
from gateway_core.config.loaded import Loaded
from gateway_core.config.model import ProviderConfig
from gateway_core.errors import ConfigError
from gateway_core.outbound import WayOut
from gateway_core.passing import is_passing
from gateway_core.provider import Provider
from gateway_core.registry.automatic import AutomaticChain
from gateway_core.registry.build import Builder
from gateway_core.registry.plan import Plan, configured_plan
from gateway_core.registry.problems import table_problems


class Registry:
    """The providers of one configuration.

    Attributes:
        loaded: the configuration.
        catalog: the installed plugins.
        outbound: the way out that the providers share.
    """

    def __init__(self, loaded: Loaded, catalog: Catalog, outbound: WayOut) -> None:
        """Take what providers are made of; nothing is imported or built yet.

        Args:
            loaded: the configuration.
            catalog: the installed plugins.
            outbound: the way out that the providers share.
        """
        self.loaded = loaded
        self.catalog = catalog
        self.outbound = outbound
        self._builder = Builder(loaded, catalog, outbound)
        self._built: dict[str, Provider | ConfigError] = {}

    def provider(self, name: str) -> Provider:
        """Return an operator's provider: configured, or by an installed dialect's or vendor's name.

        Raises:
            ConfigError: it is not configured, not enabled or left out because of its faults, or
                its plugin cannot be used.
        """
        path = f"providers.{name}"
        return self._once(path, lambda: self._builder.for_operator(path, name))

    def org_provider(self, org: str, provider_id: str) -> Provider:
        """Return an organization's own provider, under the policy for its destinations.

        Raises:
            ConfigError: as for ``provider``.
        """
        path = f"orgs.{org}.providers.{provider_id}"
        return self._once(path, lambda: self._builder.for_org(path, org, provider_id))

    def vendor_provider(self, vendor: str) -> Provider:
        """Return a vendor's provider at its own home, with no credential configured.

        Raises:
            ConfigError: no usable plugin claims the vendor.
        """
        path = f"vendor {vendor}"
        return self._once(path, lambda: self._builder.for_vendor(path, vendor))

    @cached_property
    def plan(self) -> Plan:
        """Which providers answer questions, in order, and why; made on first use."""
        chain = self.loaded.config.decide.chain
        if chain is not None:
            return configured_plan(chain, self.provider)
        return AutomaticChain(self.loaded, self.catalog, self.provider).plan()

    @property
    def names(self) -> Sequence[str]:
        """The operator's providers: the enabled ones, then what else the chain asks.

        On a machine with nothing configured these are the providers of the automatic chain;
        where only what the file names may serve, no automatic chain adds to that.
        """
        config = self.loaded.config
        enabled = _enabled(config.providers)
        if self.loaded.only_named and (config.providers or self.loaded.dropped):
            return list(dict.fromkeys((*enabled, *(config.decide.chain or ()))))
        return list(dict.fromkeys((*enabled, *self.plan.chain)))

    def usable(self) -> list[Provider]:
        """Return those of the operator's providers that can be built."""
        found = []
        for name in self.names:
            with suppress(ConfigError):
                found.append(self.provider(name))
        return found

    @property
    def problems(self) -> tuple[str, ...]:
        """Every fault that is known: of the file, of the chain, of every provider's plugin."""
        found = [*self.loaded.faults, *self._table_problems, *self.plan.problems]
        return tuple(dict.fromkeys([*found, *self._build_problems]))

    @property
    def problems_so_far(self) -> tuple[str, ...]:
        """The faults that are known without a chain, whose plan imports plugins."""
        found = [*self.loaded.faults, *self._table_problems, *self._build_problems]
        return tuple(dict.fromkeys(found))

    @property
    def _build_problems(self) -> list[str]:
        found: list[str] = []
        for built in self._built.values():
            error = built if isinstance(built, ConfigError) else built.fault
            found += () if error is None else error.faults
        return found

    @property
    def hindrances(self) -> Sequence[str]:
        """Why enabled providers of the file, which can be built, fail every request all the same.

        ``build_all`` comes first. What is among ``problems`` already is not repeated.
        """
        config = self.loaded.config
        paths = [f"providers.{name}" for name in _enabled(config.providers)]
        for org, owner in config.orgs.items():
            paths += [f"orgs.{org}.providers.{name}" for name in _enabled(owner.providers)]
        built = (self._built.get(path) for path in paths)
        hindered = (found.hindrance for found in built if isinstance(found, Provider))
        lines = [line for error in hindered if error is not None for line in error.faults]
        return [*lines, *self._nothing_listed]

    @property
    def _nothing_listed(self) -> Iterator[str]:
        for org, owner in self.loaded.config.orgs.items():
            for name, table in owner.providers.items():
                if table.enabled and not table.models:
                    path = f"orgs.{org}.providers.{name}.models"
                    yield f"{path}: list the models that the organization may use; others are not"

    def build_all(self) -> None:
        """Build every enabled provider, of organizations too; what fails joins ``problems``."""
        config = self.loaded.config
        builds = [partial(self.provider, name) for name in _enabled(config.providers)]
        for org, owner in config.orgs.items():
            builds += [partial(self.org_provider, org, name) for name in _enabled(owner.providers)]
        for build in builds:
            with suppress(ConfigError):
                build()

    @cached_property
    def _table_problems(self) -> tuple[str, ...]:
        return tuple(table_problems(self.loaded.config, self.catalog))

    def _once(self, path: str, build: Callable[[], Provider]) -> Provider:
        found = self._built.get(path)
        if found is None:
            try:
                found = build()
            except ConfigError as error:
                if is_passing(error):
                    raise error.with_path_prefix(path) from error
                found = error.with_path_prefix(path)
            self._built[path] = found
        if isinstance(found, ConfigError):
            # A new one each time: a kept exception would gather the frames of every caller.
            raise type(found)(*found.faults)
        return found


def _enabled(tables: Mapping[str, ProviderConfig]) -> list[str]:
    return [name for name, table in tables.items() if table.enabled]
