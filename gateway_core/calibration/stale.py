"""Which evidence is of a model that no longer answers, for processes to come as well."""

import json
import logging
from pathlib import Path
from typing import Final

import attrs

FILE_NAME: Final = "stale"
_log: Final = logging.getLogger("s1gw.calibration")


@attrs.define(eq=False)
class StaleNotes:
    """One sentence for each fit or threshold whose model no longer answers.

    They are kept in a file, so that a command that has asked nobody can tell them too. It is
    written only when something changes.

    Attributes:
        path: the file; None where nothing is kept.
        notes: by id of the fit, or name of the threshold.
    """

    path: Path | None = None
    notes: dict[str, str] = attrs.field(factory=dict)

    @classmethod
    def load(cls, path: Path) -> "StaleNotes":
        """Read the notes at ``path``; what cannot be read holds none."""
        try:
            found = json.loads(path.read_bytes())
        except (OSError, ValueError):
            found = {}
        if not isinstance(found, dict):
            found = {}
        return cls(path, {key: str(text) for key, text in found.items()})

    def mark(self, key: str, text: str) -> None:
        """Note that ``key`` is stale."""
        if self.notes.get(key) != text:
            self.notes[key] = text
            self._save()

    def clear(self, key: str) -> None:
        """Note that the model of ``key`` has answered."""
        if self.notes.pop(key, None) is not None:
            self._save()

    def forget(self) -> None:
        """Drop every note: the evidence itself has changed."""
        self.notes.clear()

    def _save(self) -> None:
        if self.path is None:
            return
        # Whoever has nothing stale does not pay for what writes files.
        from gateway_core.errors import ConfigError
        from gateway_core.files import replace_file

        try:
            replace_file(self.path, json.dumps(self.notes, indent=2).encode())
        except ConfigError as error:
            _log.warning("stale evidence is known to this process alone: %s", error)
