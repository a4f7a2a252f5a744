"""A configuration as it was loaded."""

import os
from collections.abc import Mapping
from pathlib import Path

import attrs

from gateway_core.config.model import Config
from gateway_core.structure import Sources


@attrs.frozen(kw_only=True)
class Loaded:
    """A configuration, and what was wrong with it.

    Attributes:
        config: what can be used.
        faults: one line per fault, each with its path and the way out.
        broken: the sections and providers that had faults, such as ``http`` and
            ``providers.laya``.
        dropped: operator providers left out because of their faults, with the dialect that
            they name, if they name one.
        environ: the environment that was read.
        files: the files of credentials, each with what it held; None for one that could not be
            read.
    """

    config: Config
    faults: tuple[str, ...] = ()
    broken: frozenset[str] = frozenset()
    dropped: Mapping[str, str | None] = attrs.field(factory=dict)
    environ: Mapping[str, str] = attrs.field(factory=lambda: os.environ, repr=False)
    files: dict[Path, str | None] = attrs.field(factory=dict, repr=False, eq=False)

    @property
    def sources(self) -> Sources:
        """Where the credentials and paths of plugins' own settings are looked up."""
        source = self.config.source
        folder = source.parent if source else Path()
        return Sources(environ=self.environ, folder=folder, files=self.files)
