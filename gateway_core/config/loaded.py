"""A configuration as it was loaded."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import attrs

from gateway_core.config.model import Config
from gateway_core.errors import ConfigError, CredentialUnusable
from gateway_core.structure import Sources


@attrs.frozen(kw_only=True)
class DroppedTable:
    """A provider's table that was left out because of its faults.

    Attributes:
        place: its place among the tables of its owner, counted from 0.
        faults: one line per fault.
        dialect: the dialect that it names, if it names one.
        models: the models that it lists; None when it lists none that can be read.
        enabled: whether it would take part.
        credential_only: whether all that is wrong is its ``api_key``.
    """

    place: int
    faults: tuple[str, ...]
    dialect: str | None = None
    models: tuple[str, ...] | None = None
    enabled: bool = True
    credential_only: bool = False

    @property
    def error(self) -> ConfigError:
        """Its faults as an error, a new one each time."""
        return (CredentialUnusable if self.credential_only else ConfigError)(*self.faults)


@attrs.frozen(kw_only=True)
class Loaded:
    """A configuration, and what was wrong with it.

    Attributes:
        config: what can be used.
        faults: one line per fault, each with its path and the way out.
        broken: the sections and providers that had faults, such as ``http`` and
            ``providers.laya``.
        dropped: the operator's providers that were left out, by name.
        dropped_of: the same of organizations: by organization, then by id.
        environ: the environment that was read.
        only_named: whether a vendor is left out that the file does not name, although its
            credential is in the environment.
        credentials_unread: whether credentials were not read, and ``UNREAD`` stands for each.
        org_files: the included file that an organization stands in, by its name.
        included: the included files, and the folders in which others may appear.
        files: the files of credentials, each with what it held; None for one that could not be
            read.
    """

    config: Config
    faults: tuple[str, ...] = ()
    broken: frozenset[str] = frozenset()
    dropped: Mapping[str, DroppedTable] = attrs.field(factory=dict)
    dropped_of: Mapping[str, Mapping[str, DroppedTable]] = attrs.field(factory=dict)
    environ: Mapping[str, str] = attrs.field(factory=lambda: os.environ, repr=False)
    only_named: bool = False
    credentials_unread: bool = False
    org_files: Mapping[str, str] = attrs.field(factory=dict)
    included: tuple[Path, ...] = ()
    files: dict[Path, str | None] = attrs.field(factory=dict, repr=False, eq=False)

    def located(self, line: str) -> str:
        """Return a fault's line with the included file before it in which it stands, if any."""
        return located(line, self.org_files)

    def for_strangers(self) -> "Loaded":
        """Return the configuration for callers who are not told apart.

        They get the very providers of the file. Where there is no file at all, nothing is named,
        and whatever is usable as it stands serves them.
        """
        return attrs.evolve(self, only_named=self.config.source is not None)

    @property
    def sources(self) -> Sources:
        """Where the credentials and paths of plugins' own settings are looked up."""
        source = self.config.source
        folder = source.parent if source else Path()
        return Sources(
            environ=self.environ, folder=folder, unread=self.credentials_unread, files=self.files
        )


def located(line: str, org_files: Mapping[str, str]) -> str:
    """Return a fault's line with its file before it.

    Args:
        line: such as ``orgs.acme.limits.rpm: expected a positive whole number``.
        org_files: the included file that an organization stands in, by its name.
    """
    own = (org for org in org_files if line.startswith((f"orgs.{org}.", f"orgs.{org}:")))
    org = max(own, key=len, default=None)
    return line if org is None else f"{org_files[org]}: {line}"


def in_order(names: Iterable[str], dropped: Mapping[str, DroppedTable]) -> list[str]:
    """Return ``names`` with the enabled tables of ``dropped`` at their places in the file."""
    found = [name for name in names if name not in dropped]
    for name, table in sorted(dropped.items(), key=lambda pair: pair[1].place):
        if table.enabled:
            found.insert(table.place, name)
    return found
