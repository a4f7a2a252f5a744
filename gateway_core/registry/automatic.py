"""The chain of a configuration that names none: whatever is usable as it stands.

First the configured providers with a credential, then installed dialects whose credential is
in their usual environment variable, then configured ones that need none; what works in process
comes last. For callers whom nobody tells apart, a credential in the environment makes no provider
out of what the file does not name.
"""

from collections.abc import Callable, Iterator
from enum import IntEnum

import attrs

from gateway_core.catalog import Catalog, PluginKind, PluginState
from gateway_core.config.loaded import Loaded
from gateway_core.errors import ConfigError, CredentialUnusable
from gateway_core.provider import Provider
from gateway_core.registry.dialects import dialect_of, has_usual_key, usual_key
from gateway_core.registry.plan import Candidate, Plan, assess_provider, excluded


class _Rank(IntEnum):
    KEYED = 0
    ENVIRONMENT = 1
    KEYLESS = 2
    EMBEDDED = 3
    OUT = 4


@attrs.frozen
class AutomaticChain:
    """Finds the candidates of one configuration.

    Attributes:
        loaded: the configuration.
        catalog: the installed plugins.
        get: returns a provider by its name.
    """

    loaded: Loaded
    catalog: Catalog
    get: Callable[[str], Provider]

    def plan(self) -> Plan:
        """Return the candidates in order and the chain that they make."""
        ranked = sorted((*self._configured(), *self._installed()), key=lambda pair: pair[0])
        candidates = tuple(candidate for _, candidate in ranked)
        chain = tuple(found.name for found in candidates if found.included)
        return Plan(automatic=True, chain=chain, candidates=candidates)

    def _configured(self) -> Iterator[tuple[_Rank, Candidate]]:
        for name, table in self.loaded.config.providers.items():
            if table.enabled:
                found = assess_provider(name, self.get)
                yield self._rank(found), found
            else:
                yield _out(name, "enabled = false")
        for name in self.loaded.dropped:
            yield _out(name, "left out because of its faults")

    def _rank(self, found: Candidate) -> _Rank:
        if not found.included:
            return _Rank.OUT
        provider = self.get(found.name)
        if self._embedded(provider.dialect):
            return _Rank.EMBEDDED
        return _Rank.KEYLESS if provider.endpoint.api_key is None else _Rank.KEYED

    def _installed(self) -> Iterator[tuple[_Rank, Candidate]]:
        """Yield the dialects that no table of the configuration speaks of."""
        spoken_for = set(self._spoken_for())
        refs = [ref for ref in self.catalog.refs if ref.kind is PluginKind.PROVIDER]
        for ref in sorted(refs, key=lambda ref: self.catalog.claims.order(ref.name)):
            if ref.name in spoken_for:
                continue
            spoken_for.add(ref.name)
            if ref.state in (PluginState.AVAILABLE, PluginState.LOADED):
                yield self._unconfigured(ref.name)
            else:
                yield _out(ref.name, ref.detail)

    def _unconfigured(self, dialect: str) -> tuple[_Rank, Candidate]:
        if self._embedded(dialect):
            found = assess_provider(dialect, self.get)
            return (_Rank.EMBEDDED if found.included else _Rank.OUT), found
        if reason := self._why_not_named(dialect):
            return _out(dialect, reason)
        found = assess_provider(dialect, self.get)
        if not found.included:
            return _Rank.OUT, found
        variables = self.catalog.claims.values("key", dialect)
        reason = f"{' or '.join(variables)} is set"
        return _Rank.ENVIRONMENT, attrs.evolve(found, reason=reason)

    def _why_not_named(self, dialect: str) -> str | None:
        """Return why a dialect that no table speaks of does not serve by its credential alone."""
        variables = self.catalog.claims.values("key", dialect)
        if not variables:
            return f"it is not configured: add [providers.{dialect}]"
        if not has_usual_key(dialect, self.catalog, self.loaded.environ):
            return f"{' or '.join(variables)} is not set"
        if self.loaded.only_named:
            return f"the configuration does not name it: add [providers.{dialect}]"
        if self._uncertain:
            return "a broken provider table may speak of it; mend that first"
        return self._shared_claim(dialect)

    def _shared_claim(self, dialect: str) -> str | None:
        """Return what is wrong when another dialect claims the same variable."""
        try:
            usual_key(dialect, self.catalog, self.loaded.environ)
        except CredentialUnusable:
            return None  # told where the provider is built
        except ConfigError as error:
            return str(error)
        return None

    def _spoken_for(self) -> Iterator[str]:
        """Yield the dialects of every table, so that one switched off does not come back."""
        for name, table in self.loaded.config.providers.items():
            yield name
            try:
                yield dialect_of(name, table, self.catalog)
            except ConfigError:
                continue
        for name, dropped in self.loaded.dropped.items():
            yield from (name, dropped.dialect or name)

    @property
    def _uncertain(self) -> bool:
        """Whether a table could not be read so far as to tell its dialect."""
        known = {ref.name for ref in self.catalog.refs if ref.kind is PluginKind.PROVIDER}
        unread = (name for name, table in self.loaded.dropped.items() if table.dialect is None)
        return "providers" in self.loaded.broken or any(name not in known for name in unread)

    def _embedded(self, dialect: str) -> bool:
        return dialect in self.catalog.claims.values("embedded", dialect)


def _out(name: str, reason: str) -> tuple[_Rank, Candidate]:
    return _Rank.OUT, excluded(name, reason)
