"""Files that a configuration includes: organizations, for those who keep a file for each team."""

import glob
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from gateway_core.config.file import read_table
from gateway_core.user_paths import expanded

_ORGS: Final = "orgs"
_MAGIC: Final = frozenset("*?[")


@attrs.frozen(kw_only=True)
class OrgFiles:
    """What the included files hold together.

    Attributes:
        orgs: the table of each organization, by name.
        files: the file in which it stands, as faults name it.
        faults: one line for each thing wrong with the files themselves.
        looked_at: the files, and the folders in which others may appear.
    """

    orgs: dict[str, Any] = attrs.field(factory=dict)
    files: dict[str, str] = attrs.field(factory=dict)
    faults: list[str] = attrs.field(factory=list)
    looked_at: list[Path] = attrs.field(factory=list)

    def add(self, shown: str, table: Mapping[str, Any]) -> None:
        """Take what the file ``shown`` holds."""
        for key in table.keys() - {_ORGS}:
            self.faults.append(
                f"{shown}: {key}: an included file holds [orgs.NAME] alone; move it into the"
                " configuration file"
            )
        orgs = table.get(_ORGS, {})
        if not isinstance(orgs, Mapping):
            self.faults.append(f"{shown}: {_ORGS}: expected a table")
            return
        for name, org in orgs.items():
            self._add_org(shown, name, org)

    def _add_org(self, shown: str, name: str, org: Any) -> None:
        if name not in self.files:
            self.files[name], self.orgs[name] = shown, org
            return
        # Which of the two is meant, nobody can tell, and they may differ in what they allow.
        self.orgs.pop(name, None)
        first = self.files[name]
        self.faults.append(f"{shown}: orgs.{name}: stands in {first} as well; keep one of them")


def read_included(patterns: Iterable[str], folder: Path, main: Mapping[str, Any]) -> OrgFiles:
    """Read the files that ``include`` names, in the order of their names.

    Args:
        patterns: paths, in which ``*``, ``?`` and ``[...]`` stand for what they do in a shell.
        folder: what relative ones start from.
        main: the organizations of the configuration file itself, by name.
    """
    found = OrgFiles()
    found.add(_MAIN, {_ORGS: main})
    for pattern in patterns:
        place = folder / expanded(pattern)
        found.looked_at.append(place.parent)
        for path in _matches(place):
            found.looked_at.append(path)
            shown = str(path.relative_to(folder) if path.is_relative_to(folder) else path)
            table, fault = read_table(path, must_exist=True)
            if fault is not None:
                found.faults.append(fault)
            found.add(shown, table or {})
    return found


_MAIN: Final = "the configuration file"


def _matches(place: Path) -> Iterator[Path]:
    """Yield the files of a pattern; a path without a pattern has to be there."""
    if _MAGIC.isdisjoint(str(place)):
        yield place
    else:
        yield from map(Path, sorted(glob.glob(str(place))))  # noqa: PTH207 - it is absolute
