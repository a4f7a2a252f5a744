"""Applying fits: the one that matches an answer best, or none and the reason."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from gateway_core.calibration.changes import Changes
from gateway_core.calibration.temperature import ANY_BUCKET, bucket_of, tempered

if TYPE_CHECKING:
    from gateway_core.calibration.fitfile import BucketFit, FitFile

_log: Final = logging.getLogger("s1gw.calibration")
_Key = tuple[str, str, str]


@attrs.frozen(kw_only=True)
class CalibrationInfo:
    """Which fit was applied, for the reply.

    Attributes:
        id: the fit's id.
        temperature: what the probabilities were tempered with.
        examples: how many examples the temperature was fitted on.
        bucket: the option bucket that the fit is for, or ``any``.
    """

    id: str
    temperature: float
    examples: int
    bucket: str


@attrs.frozen(kw_only=True)
class Calibrated:
    """Probabilities after calibration, or as they came when no fit matches.

    Attributes:
        probabilities: by option, in the order they came in.
        info: the fit that was applied; None when none was.
        warnings: why a fit that exists was not applied.
    """

    probabilities: Mapping[str, float]
    info: CalibrationInfo | None = None
    warnings: tuple[str, ...] = ()


@attrs.define(eq=False)
class Calibrator:
    """The fits of one folder, read again when they have changed.

    Attributes:
        fits: every fit file that could be read, oldest first.
        problems: one sentence per file that could not be used.
        changes: tells when to read them again; None for fits of no folder.
        stale: fits whose model no longer answers, by fit id, each with one sentence.
    """

    fits: "tuple[FitFile, ...]" = ()
    problems: tuple[str, ...] = ()
    changes: Changes | None = None
    stale: dict[str, str] = attrs.field(factory=dict, init=False)
    _by_key: "dict[_Key, dict[str, tuple[str, BucketFit]]]" = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._arrange()

    def _arrange(self) -> None:
        self._by_key = {}
        for file in self.fits:
            for fit in file.fits:
                key = (file.provider, fit.question_type, fit.bucket)
                self._by_key.setdefault(key, {})[fit.model] = (file.id, fit)

    @classmethod
    def load(cls, folder: Path) -> "Calibrator":
        """Read every ``*.json`` of ``folder``; a missing folder holds no fits.

        A file that cannot be used is named in ``problems`` and the others still count. Where
        two fits are for the same questions, the one created last is used.
        """
        changes = Changes(lambda: _files(folder))
        return cls(*_read(changes), changes)

    def refresh(self) -> None:
        """Read the fits again if their files have changed; looks no more often than it should."""
        if self.changes is None or not self.changes.found():
            return
        self.fits, self.problems = _read(self.changes)
        self.stale.clear()
        self._arrange()
        _log.info("calibration fits in use now: %s", [fit.id for fit in self.fits])

    def apply(
        self, *, provider: str, model: str, question_type: str, probabilities: Mapping[str, float]
    ) -> Calibrated:
        """Temper ``probabilities`` with the most specific fit that matches.

        A fit matches when the provider, the model that answered, the question type and the
        option bucket are its own; one for bucket ``any`` is used where none is for the bucket.
        A fit of another model is stale: it is not applied, and a warning says so.

        Args:
            provider: the provider's name in the configuration.
            model: the model that the provider says answered.
            question_type: ``options`` or ``yes_no``.
            probabilities: by option, all of them, summing to 1.
        """
        self.refresh()
        others: dict[str, tuple[str, BucketFit]] = {}
        for bucket in (bucket_of(len(probabilities)), ANY_BUCKET):
            found = self._by_key.get((provider, question_type, bucket), {})
            if model in found:
                return self._tempered(*found[model], probabilities)
            others |= found
        warnings = tuple(self._mark_stale(provider, model, *other) for other in others.values())
        return Calibrated(probabilities=probabilities, warnings=warnings)

    def _tempered(
        self, fit_id: str, fit: "BucketFit", probabilities: Mapping[str, float]
    ) -> Calibrated:
        self.stale.pop(fit_id, None)
        values = tempered(list(probabilities.values()), fit.temperature, fit.floor)
        return Calibrated(
            probabilities=dict(zip(probabilities, values, strict=True)),
            info=CalibrationInfo(
                id=fit_id, temperature=fit.temperature, examples=fit.examples, bucket=fit.bucket
            ),
        )

    def _mark_stale(self, provider: str, model: str, fit_id: str, fit: "BucketFit") -> str:
        text = (
            f"calibration fit {fit_id} is stale: it was made for model {fit.model!r}, but "
            f"{provider} answered with {model!r}; confidence is not calibrated"
        )
        self.stale[fit_id] = text
        return text


def _files(folder: Path) -> list[Path]:
    # Since Python 3.13, glob takes a folder that it may not read for an empty one.
    try:
        return [path for path in folder.iterdir() if path.suffix == ".json"]
    except FileNotFoundError:
        return []


def _read(changes: Changes) -> "tuple[tuple[FitFile, ...], tuple[str, ...]]":
    try:
        paths = sorted(changes.paths())
    except OSError as error:
        return (), (f"calibration fits cannot be read: {error.strerror}",)
    if not paths:
        return (), ()
    # Whoever has no fits does not pay for what reads them.
    from gateway_core.calibration.fitfile import read_fits

    return read_fits(paths)
