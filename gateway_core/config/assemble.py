"""From a file's tables to a configuration, whatever is wrong with them.

A broken part never stops the rest. It is not replaced by its default either, where that would
allow more than the person meant: a broken chain is an empty one, not the automatic one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from gateway_core.config import rules
from gateway_core.config.environment import overrides
from gateway_core.config.loaded import DroppedTable, Loaded, located
from gateway_core.config.model import (
    UNREADABLE,
    Config,
    MiddlewareConfig,
    OrgConfig,
    ProviderConfig,
)
from gateway_core.config.sections import KEYS, SECTIONS
from gateway_core.config.variables import replaced
from gateway_core.structure import Fault, Sources, attempt
from gateway_core.structure.faults import MismatchError, unknown_key

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_OPERATOR: Final = ""
"""Owns what no organization does; no organization is called so."""
_NAME_RULE: Final = "a name is 1 to 64 letters, digits, dots, dashes and underscores"

STRICTEST: Final[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
    "decide": {
        "chain": {"chain": []},
        "middleware": {"middleware": [UNREADABLE]},
        "threshold": {"threshold": 1.0},
        "thresholds": {"threshold": 1.0},
        "abstain_when_truncated": {"abstain_when_truncated": True},
    },
    "plugins": {"disabled": {"disabled": ["*"]}},
}
"""What a broken key stands for, by section, until it is mended; others take their defaults."""


@attrs.frozen
class _Include:
    """The one key at the top of the file that is no table."""

    include: tuple[str, ...] = attrs.field(default=(), validator=rules.distinct)


@attrs.define
class Assembly:
    """One configuration in the making: faults gather while its parts are structured."""

    sources: Sources
    faults: list[str] = attrs.field(factory=list, init=False)
    broken: set[str] = attrs.field(factory=set, init=False)
    dropped: dict[str, dict[str, DroppedTable]] = attrs.field(factory=dict, init=False)
    org_files: dict[str, str] = attrs.field(factory=dict, init=False)
    included: list[Path] = attrs.field(factory=list, init=False)

    def without_file(self, fault: str) -> Loaded:
        """Return the configuration of a file that cannot be read: every section is broken."""
        self.faults.append(fault)
        self.broken.update(KEYS)
        return self.of({}, source=None)

    def of(self, table: Mapping[str, Any], source: Path | None) -> Loaded:
        """Return the configuration that a file's ``table`` and the environment make."""
        for key in sorted(table.keys() - set(KEYS)):
            fault = unknown_key(key, KEYS)
            self._report(fault.meant or key, [fault])
        sections = {name: self._section(name, table.get(name, {})) for name in SECTIONS}
        providers = self._providers(table.get("providers", {}), "providers", _OPERATOR)
        middleware = dict(self._middleware(table.get("middleware", {})))
        include = self._include(table.get("include", []))
        orgs = dict(self._orgs(self._org_tables(table.get("orgs", {}), include)))
        config = Config(
            source=source,
            include=include,
            providers=providers,
            middleware=middleware,
            orgs=orgs,
            **sections,
        )
        return Loaded(
            config=config,
            faults=tuple(self.faults),
            broken=frozenset(self.broken),
            dropped=self.dropped.pop(_OPERATOR, {}),
            dropped_of=self.dropped,
            environ=self.sources.environ,
            credentials_unread=self.sources.unread,
            org_files=self.org_files,
            included=tuple(self.included),
            files={} if self.sources.files is None else self.sources.files,
        )

    def _section(self, name: str, table: Any) -> Any:
        """Structure a section; broken keys are what ``STRICTEST`` says, or their defaults."""
        cls, strictest = SECTIONS[name], STRICTEST.get(name, {})
        over, wrong = overrides(name, self.sources.environ, self.sources)
        self._report(name, wrong)
        values = {**table, **over} if isinstance(table, Mapping) else table
        found, inside = attempt(cls, values, self.sources)
        self._report(name, inside, name)
        if found is not None and name not in self.broken:
            return found
        bad = {fault.meant or fault.path[0] for fault in (*wrong, *inside) if fault.path}
        if not bad:
            bad = set(strictest)
        values = values if isinstance(values, Mapping) else over
        known = {attribute.name for attribute in attrs.fields(cls)} - bad
        good = {key: value for key, value in values.items() if key in known}
        for key in (bad & strictest.keys()) - over.keys():
            good.update(strictest[key])
        return attempt(cls, {**good, **over}, self.sources)[0]

    def _providers(self, tables: Any, root: str, owner: str) -> dict[str, ProviderConfig]:
        found: dict[str, ProviderConfig] = {}
        for place, (name, table) in enumerate(self._named(tables, root)):
            path = f"{root}.{name}"
            read, unset = replaced(table, self.sources)
            provider, faults = attempt(ProviderConfig, read, self.sources)
            faults = (*unset, *faults)
            self._report(path, faults, path)
            if provider is not None and not faults:
                found[name] = provider
            else:
                self.dropped.setdefault(owner, {})[name] = _dropped(place, table, path, faults)
        return found

    def _middleware(self, tables: Any) -> Iterator[tuple[str, MiddlewareConfig]]:
        for name, table in self._named(tables, "middleware"):
            path = f"middleware.{name}"
            found, faults = attempt(MiddlewareConfig, table, self.sources)
            self._report(path, faults, path)
            if found is not None:
                yield name, found

    def _include(self, patterns: Any) -> tuple[str, ...]:
        found, faults = attempt(_Include, {"include": patterns}, self.sources)
        self._report("include", faults)
        return () if found is None else found.include

    def _org_tables(self, own: Any, include: tuple[str, ...]) -> Any:
        """Return the tables of all organizations, those of included files among them."""
        if not include or not isinstance(own, Mapping):
            return own
        # Most configurations are one file.
        from gateway_core.config.include import read_included

        found = read_included(include, self.sources.folder, own)
        self.org_files = {name: file for name, file in found.files.items() if name not in own}
        self.included = found.looked_at
        if found.faults:
            self.faults += found.faults
            self.broken.add("orgs")
        return found.orgs

    def _orgs(self, tables: Any) -> Iterator[tuple[str, OrgConfig]]:
        for name, table in self._named(tables, "orgs"):
            root = f"orgs.{name}"
            own = dict(table) if isinstance(table, Mapping) else table
            providers = own.pop("providers", {}) if isinstance(own, dict) else {}
            org, faults = attempt(OrgConfig, own, self.sources)
            self._report(root, faults, root)
            usable = self._providers(providers, f"{root}.providers", name)
            if org is not None:
                yield name, attrs.evolve(org, providers=usable)
                continue
            for place, provider_id in enumerate(usable):
                path = f"{root}.providers.{provider_id}"
                dropped = _dropped(place, providers[provider_id], path, ())
                lines = tuple(fault.at(root) for fault in faults)
                self.dropped.setdefault(name, {})[provider_id] = attrs.evolve(
                    dropped, faults=lines, credential_only=False
                )

    def _named(self, tables: Any, root: str) -> Iterator[tuple[str, Any]]:
        """Yield the tables of a table whose keys are names that people chose."""
        if not isinstance(tables, Mapping):
            self._report(root, [Fault((), str(MismatchError("a table", tables)))], root)
            return
        seen: dict[str, str] = {}
        for name, table in tables.items():
            other = seen.setdefault(name.lower(), name)
            if not _NAME.fullmatch(name):
                self._report(root, [Fault((name,), _NAME_RULE)], root)
            elif other != name:
                self._report(root, [Fault((name,), f"differs from {other} in case only")], root)
            else:
                yield name, table

    def _report(self, part: str, faults: Iterable[Fault], root: str = "") -> None:
        for fault in faults:
            self.faults.append(located(fault.at(root), self.org_files))
            self.broken.add(part)


def _dropped(place: int, table: Any, path: str, faults: Sequence[Fault]) -> DroppedTable:
    values = table if isinstance(table, Mapping) else {}
    dialect, models = values.get("dialect"), values.get("models")
    named = isinstance(models, list) and all(isinstance(model, str) for model in models)
    return DroppedTable(
        place=place,
        faults=tuple(fault.at(path) for fault in faults),
        dialect=dialect if isinstance(dialect, str) else None,
        models=tuple(models) if isinstance(models, list) and models and named else None,
        enabled=values.get("enabled") is not False,
        credential_only=all(fault.path[:1] == ("api_key",) for fault in faults),
    )
