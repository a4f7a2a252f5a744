"""Whether a request that is right could be served now, by what is known already.

Nothing is asked and nothing is waited for: a load balancer asks often, and an answer that comes
late counts as none.
"""

from collections.abc import Iterator
from typing import Final

from gateway_core.door.callers import Caller
from gateway_core.door.keys.store import KeyStore
from gateway_core.door.rights import CallerKind
from gateway_core.errors import ConfigError
from gateway_core.registry import Registry
from gateway_core.servers.http.services import Services

DRAINING: Final = "the gateway is about to end, and takes what still comes"
NO_PROVIDER: Final = "no provider is usable; s1gw config check says why"
NO_LIMITS: Final = "the store of the rate limits does not answer, and every call has a limit"


def why_not_ready(services: Services) -> str | None:
    """Return why no request could be served, or None if one could.

    Args:
        services: what requests are served with.
    """
    if services.kept.life.draining:
        return DRAINING
    if services.keys is None:
        # Without authentication nobody has a limit.
        return None if _operator_is_served(services.registry) else NO_PROVIDER
    served = set(_served(services.registry, services.keys))
    if not served:
        return NO_PROVIDER
    if services.door.refuses_limits and not _without_limit(services, served):
        return NO_LIMITS
    return None


def _operator_is_served(registry: Registry) -> bool:
    if any(candidate.included for candidate in registry.plan.candidates):
        return True
    return any(_usable(registry, None, name) for name in registry.names)


def _served(registry: Registry, keys: KeyStore) -> Iterator[str | None]:
    """Yield the organizations that have a usable provider, and None for internal platforms."""
    for org, owner in registry.loaded.config.orgs.items():
        tables = owner.providers.items()
        # A model that is not listed is not served.
        names = (name for name, table in tables if table.enabled and table.models)
        if any(_usable(registry, org, name) for name in names):
            yield org
    if keys.holds(CallerKind.INTERNAL) and _has_vendor(registry):
        yield None


def _usable(registry: Registry, org: str | None, name: str) -> bool:
    """Say whether a provider can be asked; the first call, or the start, has built it."""
    try:
        found = registry.provider(name) if org is None else registry.org_provider(org, name)
    except ConfigError:
        return False
    return found.hindrance is None


def _has_vendor(registry: Registry) -> bool:
    catalog = registry.catalog
    return any(catalog.claims.values("vendor", dialect) for dialect in catalog.available())


def _without_limit(services: Services, served: set[str | None]) -> bool:
    """Say whether somebody who is served has no limit that would have to be counted."""
    orgs = services.registry.loaded.config.orgs
    limited = {org for org, owner in orgs.items() if owner.limits.bounded}
    holders = () if services.keys is None else services.keys.holders()
    return any(
        _whose(holder) in served and holder.org not in limited and not holder.limits.bounded
        for holder in holders
    )


def _whose(holder: Caller) -> str | None:
    return None if holder.kind is CallerKind.INTERNAL else holder.org
