"""From a provider's table to a provider: dialect, credential, destination policy, plugin."""

import attrs

from gateway_core.catalog import Catalog
from gateway_core.config.loaded import Loaded
from gateway_core.config.model import ProviderConfig
from gateway_core.context import Endpoint
from gateway_core.errors import ConfigError
from gateway_core.outbound import DestinationPolicy, WayOut
from gateway_core.provider import Provider, build_provider
from gateway_core.registry.dialects import dialect_of, is_home, usual_key
from gateway_core.registry.soundness import (
    destination_fault,
    fault_of,
    refuse_written_credentials,
)
from gateway_core.secret import Secret
from gateway_core.structure.secrets import UNREAD


@attrs.frozen(eq=False)
class Builder:
    """Builds providers of one configuration; each call builds anew."""

    loaded: Loaded
    catalog: Catalog
    outbound: WayOut

    def for_operator(self, path: str, name: str) -> Provider:
        """Build a provider of the operator, who is trusted to choose its destination.

        Raises:
            ConfigError: it is not configured or not enabled, or cannot be built; what only keeps
                it from being asked is its ``fault``.
        """
        config = self._operators_table(name)
        dialect = dialect_of(name, config, self.catalog)
        if config.api_key is None and is_home(dialect, config, self.catalog):
            config = attrs.evolve(config, api_key=self._usual_key(dialect))
        return self._build(path, name, config, dialect)

    def for_org(self, path: str, org: str, provider_id: str) -> Provider:
        """Build a provider of an organization, which never gets the operator's credentials.

        Raises:
            ConfigError: as for ``for_operator``.
        """
        dropped = self.loaded.dropped_of.get(org, {})
        if provider_id in dropped:
            raise dropped[provider_id].error
        owner = self.loaded.config.orgs.get(org)
        if owner is None or provider_id not in owner.providers:
            raise ConfigError("not configured")
        config = owner.providers[provider_id]
        policy = DestinationPolicy(allow_private=owner.allow_private)
        dialect = dialect_of(provider_id, config, self.catalog)
        return self._build(path, provider_id, config, dialect, policy)

    def for_vendor(self, path: str, vendor: str) -> Provider:
        """Build a vendor's provider at its own home, with no credential."""
        dialect = self.catalog.claim("vendor", vendor)
        if dialect is None:
            raise ConfigError("no installed provider serves this vendor")
        return self._build(path, vendor, ProviderConfig(), dialect)

    def _usual_key(self, dialect: str) -> Secret | None:
        if self.loaded.credentials_unread:
            return UNREAD if self.catalog.claims.values("key", dialect) else None
        return usual_key(dialect, self.catalog, self.loaded.environ)

    def _operators_table(self, name: str) -> ProviderConfig:
        config = self.loaded.config.providers.get(name)
        if config is not None:
            return config
        if name in self.loaded.dropped:
            raise self.loaded.dropped[name].error
        if any(ref.name == name for ref in self.catalog.refs):
            return ProviderConfig(dialect=name)
        dialect = self.catalog.claim("vendor", name)
        if dialect is None:
            raise ConfigError("not configured, and no dialect or vendor of this name is installed")
        return ProviderConfig(dialect=dialect)

    def _build(
        self,
        path: str,
        name: str,
        config: ProviderConfig,
        dialect: str,
        policy: DestinationPolicy | None = None,
    ) -> Provider:
        if not config.enabled:
            raise ConfigError("not enabled (enabled = false)")
        refuse_written_credentials(config.headers, path)
        plugin_class = self.catalog.load(dialect)
        endpoint = _endpoint(config)
        provider = build_provider(
            plugin_class,
            name=name,
            dialect=dialect,
            endpoint=endpoint,
            settings=config.settings,
            sender=self.outbound.sender(endpoint, policy),
            path=path,
            sources=self.loaded.sources,
        )
        provider.path = path
        provider.fault = fault_of(provider, config, path)
        provider.forbidden = destination_fault(provider, policy, path)
        return provider


def _endpoint(config: ProviderConfig) -> Endpoint:
    return Endpoint(
        base_url=config.base_url,
        prefix=config.prefix,
        api_key=config.api_key,
        models=config.models,
        headers=config.headers,
        timeout_s=config.timeout_s,
        max_concurrency=config.max_concurrency,
    )
