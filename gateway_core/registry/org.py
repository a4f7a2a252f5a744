"""One organization's own providers, where a registry of the operator's would do."""

from collections.abc import Callable
from functools import cached_property

import attrs

from gateway_core.config.loaded import DroppedTable, Loaded, in_order
from gateway_core.config.model import OrgConfig, ProviderConfig
from gateway_core.errors import ConfigError
from gateway_core.provider import Provider
from gateway_core.registry.plan import Plan, configured_plan
from gateway_core.registry.registry import Registry

MayUse = Callable[[str, str], bool]
"""Says whether a provider's id and a model of it may be used."""


class OrgRegistry(Registry):
    """The enabled providers of one organization; the chain is all of them, in their order.

    The operator's providers, file and faults do not show in it.
    """

    def __init__(self, whole: Registry, org: str, may_use: MayUse) -> None:
        """Take the registry that builds the providers, and what of it may be used."""
        super().__init__(_without_operator(whole.loaded), whole.catalog, whole.outbound)
        self._whole = whole
        self._org = org
        self._may_use = may_use

    def provider(self, name: str) -> Provider:
        """Return one of the organization's providers.

        Raises:
            ConfigError: it is not configured, not enabled or not allowed, or cannot be used.
        """
        if name not in self._names:
            raise ConfigError(f"{name}: not configured")
        return self._whole.org_provider(self._org, name)

    @cached_property
    def plan(self) -> Plan:
        """The organization's providers in their order."""
        return configured_plan(self._names, self.provider)

    @property
    def problems(self) -> tuple[str, ...]:
        """Why providers of the chain cannot be asked."""
        return self.plan.problems

    @cached_property
    def _names(self) -> tuple[str, ...]:
        loaded = self._whole.loaded
        tables = loaded.config.orgs.get(self._org, OrgConfig()).providers
        dropped = loaded.dropped_of.get(self._org, {})
        return tuple(
            name
            for name in in_order(tables, dropped)
            if self._takes_part(name, tables.get(name) or dropped[name])
        )

    def _takes_part(self, name: str, table: ProviderConfig | DroppedTable) -> bool:
        if not table.enabled or not table.models:
            return False
        return self._may_use(name, table.models[0])


def _without_operator(loaded: Loaded) -> Loaded:
    config = attrs.evolve(loaded.config, source=None, providers={}, orgs={})
    return attrs.evolve(
        loaded,
        config=config,
        faults=(),
        broken=frozenset(),
        dropped={},
        dropped_of={},
        org_files={},
    )
