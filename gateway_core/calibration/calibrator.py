"""Applying fits: the one that matches an answer best, or none and the reason."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from gateway_core.calibration.changes import Changes
from gateway_core.calibration.stale import FILE_NAME, StaleNotes
from gateway_core.calibration.temperature import ANY_BUCKET, bucket_of, shifted, tempered

if TYPE_CHECKING:
    from gateway_core.calibration.fitfile import BucketFit, FitFile
    from gateway_core.calibration.thresholdfile import MeasuredThreshold

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
        warnings: why a fit that exists was not applied, or what is wrong with the one that was.
        last: what the last fit of another model makes of them; None where there is no such fit.
    """

    probabilities: Mapping[str, float]
    info: CalibrationInfo | None = None
    warnings: tuple[str, ...] = ()
    last: "Calibrated | None" = None


@attrs.define(eq=False)
class Calibrator:
    """The fits of one folder, read again when they have changed.

    Attributes:
        fits: every fit file that could be read, oldest first.
        problems: one sentence per file that could not be used.
        changes: tells when to read them again; None for fits of no folder.
        notes: what is stale.
    """

    fits: "tuple[FitFile, ...]" = ()
    problems: tuple[str, ...] = ()
    changes: Changes | None = None
    notes: StaleNotes = attrs.field(factory=StaleNotes)
    _by_key: "dict[_Key, dict[str, tuple[str, BucketFit]]]" = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._arrange()

    def _arrange(self) -> None:
        self._by_key = {}
        for file in self.fits:
            for fit in file.fits:
                key = (file.provider, fit.question_type, fit.bucket)
                models = self._by_key.setdefault(key, {})
                # The last one is found last, whichever model it replaces or joins.
                models.pop(fit.model, None)
                models[fit.model] = (file.id, fit)

    @classmethod
    def load(cls, folder: Path) -> "Calibrator":
        """Read every ``*.json`` of ``folder``; a missing folder holds no fits.

        A file that cannot be used is named in ``problems`` and the others still count. Where
        two fits are for the same questions, the one created last is used.
        """
        changes = Changes(lambda: _files(folder))
        return cls(*_read(changes), changes, StaleNotes.load(folder / FILE_NAME))

    @property
    def stale(self) -> dict[str, str]:
        """What is stale, by id of the fit or name of the threshold, each with one sentence."""
        return self.notes.notes

    @property
    def current(self) -> frozenset[str]:
        """Ids of the fits that are the last ones of some model and kind of question."""
        models = self._by_key.values()
        return frozenset(fit_id for found in models for fit_id, _ in found.values())

    def is_last(self, fit_id: str, kind: _Key, model: str) -> bool:
        """Return whether a fit is the last one of a model and a kind of question."""
        found = self.last(kind, model)
        return found is not None and found[0] == fit_id

    def last(self, kind: _Key, model: str) -> "tuple[str, BucketFit] | None":
        """Return the last fit of a model and a kind of question, with its id."""
        return self._by_key.get(kind, {}).get(model)

    def refresh(self) -> None:
        """Read the fits again if their files have changed; looks no more often than it should."""
        if self.changes is None or not self.changes.found():
            return
        self.fits, self.problems = _read(self.changes)
        self.notes.forget()
        self._arrange()
        _log.info("calibration fits in use now: %s", [fit.id for fit in self.fits])

    def apply(
        self,
        *,
        provider: str,
        model: str,
        question_type: str,
        probabilities: Mapping[str, float],
        record: "MeasuredThreshold | None" = None,
    ) -> Calibrated:
        """Apply the most specific fit that matches.

        A fit matches when the provider, the model that answered, the question type and the
        option bucket are its own; one for bucket ``any`` is used where none is for the bucket.
        A fit of another model is stale: it is not applied, and a warning says so.

        Args:
            provider: the provider's name in the configuration.
            model: the model that the provider says answered.
            question_type: ``options`` or ``yes_no``.
            probabilities: by option, all of them, summing to 1.
            record: the measured threshold in force for this model; its fit is applied, and
                no other, since the threshold means nothing on another scale.
        """
        self.refresh()
        if record is not None:
            if record.fit is not None:
                self.notes.clear(record.fit)
            return self.of_record(record, probabilities)
        others: dict[str, tuple[str, BucketFit]] = {}
        for bucket in (ANY_BUCKET, bucket_of(len(probabilities))):
            found = self._by_key.get((provider, question_type, bucket), {})
            others |= found
        if model in others:
            self.notes.clear(others[model][0])
            return fitted(*others[model], probabilities)
        return self._stale(provider, model, tuple(others.values()), probabilities)

    def of_record(
        self, record: "MeasuredThreshold", probabilities: Mapping[str, float]
    ) -> Calibrated:
        """Return what the fit of a measured threshold makes of probabilities."""
        if record.fit is None:
            return Calibrated(probabilities=probabilities)
        fit = record.calibration or self.fit_of(
            record.fit, record.model, record.question_type, record.bucket
        )
        if fit is not None:
            return fitted(record.fit, fit, probabilities)
        text = f"calibration fit {record.fit}, which the threshold was measured with, is gone"
        return Calibrated(probabilities=probabilities, warnings=(text,))

    def fit_of(
        self, fit_id: str, model: str, question_type: str, bucket: str
    ) -> "BucketFit | None":
        """Return the fit of that id for a kind of question; None when there is none."""
        of_file = (fit for file in self.fits if file.id == fit_id for fit in file.fits)
        found: dict[str, BucketFit] = {
            fit.bucket: fit
            for fit in of_file
            if (fit.model, fit.question_type) == (model, question_type)
        }
        return found.get(bucket) or found.get(ANY_BUCKET)

    def _stale(
        self,
        provider: str,
        model: str,
        others: "tuple[tuple[str, BucketFit], ...]",
        probabilities: Mapping[str, float],
    ) -> Calibrated:
        texts = []
        for fit_id, fit in others:
            texts.append(
                f"calibration fit {fit_id} is stale: it was made for model {fit.model!r}, but "
                f"{provider} answered with {model!r}"
            )
            self.notes.mark(fit_id, texts[-1])
        last = fitted(*others[-1], probabilities) if others else None
        return Calibrated(probabilities=probabilities, warnings=tuple(texts), last=last)


def fitted(fit_id: str, fit: "BucketFit", probabilities: Mapping[str, float]) -> Calibrated:
    """Return what a fit makes of probabilities."""
    temperature, shift = fit.temperature, fit.shift
    if shift is not None and shift.biases.keys() == probabilities.keys():
        temperature = shift.temperature
        found = shifted(probabilities, temperature, shift.floor, shift.biases)
    else:
        values = tempered(list(probabilities.values()), temperature, fit.floor)
        found = dict(zip(probabilities, values, strict=True))
    info = CalibrationInfo(
        id=fit_id, temperature=temperature, examples=fit.examples, bucket=fit.bucket
    )
    return Calibrated(probabilities=found, info=info, warnings=_doubts(fit_id, fit))


def _doubts(fit_id: str, fit: "BucketFit") -> tuple[str, ...]:
    if fit.saturated:
        return (f"calibration fit {fit_id} rests on examples that are too few or too easy",)
    if fit.forced:
        return (f"calibration fit {fit_id} did not help on examples that it had not seen",)
    return ()


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
