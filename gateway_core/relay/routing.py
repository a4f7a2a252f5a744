# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""Which provider of the caller answers for a model: tables that are built once and looked up."""

import logging
from collections.abc import Callable, Iterator
from typing import Final

from gateway_core.bounded_cache import BoundedCache
from gateway_core.config.loaded import in_order
from gateway_core.config.model import Config, OrgConfig
from gateway_core.door.callers import Caller
from gateway_core.door.refusals import short_of_resources
from gateway_core.errors import ConfigError
from gateway_core.passing import is_passing
from gateway_core.provider import Provider
from gateway_core.registry import Registry
from gateway_core.relay.targets import (
    LONGEST_NAME,
    BrokenProvider,
    RelayTarget,
    Table,
    TargetOrFault,
    check_target,
    make_targets,
    not_configured,
)
from gateway_core.secret import Secret
from gateway_core.types import Format

_log: Final = logging.getLogger("s1gw.relay")
_MOST_ALLOWED: Final = 16_384


class Router:
    """Finds the target of a call among what its caller may use."""

    def __init__(self, registry: Registry, config: Config) -> None:
        self._registry = registry
        self._config = config
        self._tables: dict[str, Table] = {}
        self._operators: Table | None = None
        self._vendors: dict[str, Provider | None] = {}
        # A key that changes makes a new caller, and so nothing of the old one is found.
        self._allowed: BoundedCache[tuple[Caller, str, Format, bool], RelayTarget] = BoundedCache(
            _MOST_ALLOWED
        )

    def target(self, caller: Caller, model: str, wire: Format, key: Secret | None) -> RelayTarget:
        """Return where a body of ``caller`` goes that names ``model``, if it may go there.

        Raises:
            RelayRefused: ``decision_provider_not_configured``, or what ``check_target`` raises.
        """
        lookup = caller, model, wire, key is None
        target = self._allowed.get(lookup)
        if target is None:
            target = self._target(caller, model, wire)
            check_target(caller, target, wire, key)
            # A vendor's model is named by whoever asks, and at any length.
            if len(model) <= LONGEST_NAME:
                self._allowed.keep(lookup, target)
        return target

    def _target(self, caller: Caller, model: str, wire: Format) -> RelayTarget:
        place = self._place(caller, model)
        if isinstance(place, BrokenProvider):
            place.refuse(caller, model, wire)
        return place

    def _place(self, caller: Caller, model: str) -> TargetOrFault:
        vendors = caller.rights.vendors
        place = self._vendor(model) if vendors else self.table(caller).find(model)
        if place is None:
            raise not_configured(
                "the model must begin with the id of a vendor, such as openai/"
                if vendors
                else "no enabled provider of the caller lists the requested model"
            )
        return place

    def prepare(self) -> None:
        """Build the tables of all organizations, so that no call has to wait for it."""
        for org in self._config.orgs:
            self._tables[org] = Table(self._organization(org))

    def table(self, caller: Caller) -> Table:
        """Return all targets of ``caller``, in configured order."""
        if not caller.rights.own_providers:
            return Table(())
        if caller.org is None:
            if self._operators is None:
                self._operators = Table(self._operator())
            return self._operators
        if caller.org not in self._tables:
            self._tables[caller.org] = Table(self._organization(caller.org))
        return self._tables[caller.org]

    def _operator(self) -> Iterator[TargetOrFault]:
        dropped, names = self._registry.loaded.dropped, self._registry.names
        tables = in_order(self._config.providers, dropped)
        enabled = [name for name in tables if name in dropped or name in names]
        for name in dict.fromkeys((*enabled, *names)):
            provider = _built(self._registry.provider, name)
            if isinstance(provider, Provider):
                yield from make_targets(name, provider, provider.endpoint.models)
            else:
                yield BrokenProvider(id=name, models=self._listed(name), error=provider)

    def _organization(self, org: str) -> Iterator[TargetOrFault]:
        tables = self._config.orgs.get(org, OrgConfig()).providers
        dropped = self._registry.loaded.dropped_of.get(org, {})
        for name in in_order(tables, dropped):
            if name in tables and not tables[name].enabled:
                continue
            listed = tables[name].models if name in tables else dropped[name].models
            provider = _built(self._registry.org_provider, org, name)
            if isinstance(provider, Provider):
                # A model that the organization did not list is not served, whatever the
                # dialect's own default is.
                yield from make_targets(name, provider, listed or ())
            else:
                yield BrokenProvider(id=name, models=listed, error=provider)

    def _listed(self, name: str) -> tuple[str, ...] | None:
        """Return the models that an operator's table lists; None where it lists none."""
        dropped, table = self._registry.loaded.dropped, self._config.providers.get(name)
        if name in dropped:
            return dropped[name].models
        return table.models or None if table else None

    def _vendor(self, model: str) -> RelayTarget | None:
        prefix, _, rest = model.partition("/")
        vendor = prefix.casefold()
        if vendor not in self._vendors:
            # Callers may name anything, and only what some plugin claims is remembered.
            if self._registry.catalog.claim("vendor", vendor) is None:
                return None
            built = _built(self._registry.vendor_provider, vendor)
            self._vendors[vendor] = built if isinstance(built, Provider) else None
        provider = self._vendors[vendor]
        # A customer's key is for a vendor that needs one.
        if provider is None or provider.capabilities.keyless or not rest.strip():
            return None
        return next(make_targets(vendor, provider, (rest,)))


def _built(build: Callable[..., Provider], *names: str) -> Provider | ConfigError:
    try:
        return build(*names)
    except ConfigError as error:
        if is_passing(error):
            raise short_of_resources() from error
        _log.warning("not relayed to: %s", error)
        # Without the frames of the caller that happened to be the first.
        return error.with_traceback(None)
