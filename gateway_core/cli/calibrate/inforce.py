"""The fits in force, and what to know about them before numbers are read."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gateway_core.cli.terminal import plain

if TYPE_CHECKING:
    from gateway_core.calibration import Calibrator, Thresholds
    from gateway_core.calibration.fitfile import BucketFit
    from gateway_core.evaluation.example import Example


def fits_for(examples: "Sequence[Example]") -> "Calibrator":
    """Return the fits in force; tell those that cannot be read, or were made from ``examples``."""
    from gateway_core.calibration import Calibrator
    from gateway_core.config.paths import state_dir

    found = Calibrator.load(state_dir() / "calibration")
    for note in (*found.problems, *_flattered(found, examples)):
        click.echo(f"note: {plain(note)}", err=True)
    return found


def thresholds_in_force() -> "Thresholds":
    """Return the thresholds in force; the default and configured ones do not count here."""
    from gateway_core.calibration import Thresholds
    from gateway_core.config.paths import state_dir

    return Thresholds.load(state_dir(), 0.0, {})


def what_it_replaces(provider: str, fits: "Sequence[BucketFit]") -> list[str]:
    """Return what becomes of the evidence in force when these fits are written."""
    from gateway_core.calibration import Calibrator
    from gateway_core.config.paths import state_dir

    before, records = Calibrator.load(state_dir() / "calibration"), thresholds_in_force().measured
    notes = []
    for fit in fits:
        kind = (provider, fit.question_type, fit.bucket)
        record = records.get((kind, fit.model))
        known = before.last(kind, fit.model)
        if record is not None:
            notes.append(
                f"{record.name} has a threshold that was measured with {record.fit or 'no fit'}, "
                "and both stay in force together; the new fit waits until s1gw calibrate "
                "thresholds --apply measures one with it"
            )
        elif known is not None and known[1].examples > fit.examples:
            notes.append(
                f"it replaces fit {known[0]}, which rests on more examples: "
                f"{known[1].examples:,} against {fit.examples:,}"
            )
    return notes


def _flattered(calibrator: "Calibrator", examples: "Sequence[Example]") -> list[str]:
    return [
        f"fit {fit_id} was made from {count:,} of these {total:,} examples, which flatters what is "
        "measured with it; other examples tell the truth"
        for fit_id in sorted(calibrator.current)
        for count, total in (_overlap(calibrator, fit_id, examples),)
        if count
    ]


def _overlap(
    calibrator: "Calibrator", fit_id: str, examples: "Sequence[Example]"
) -> tuple[int, int]:
    """Return how many of the fit's provider's examples it was made from, and how many there are."""
    import msgspec

    from gateway_core.calibration.fitfile import read_seen
    from gateway_core.config.paths import state_dir
    from gateway_core.evaluation.example import data_digest, seen_as

    (file,) = (file for file in calibrator.fits if file.id == fit_id)
    own = [one for one in examples if one.provider == file.provider]
    try:
        seen = read_seen(state_dir() / "calibration" / f"{fit_id}.json")
    except (OSError, msgspec.MsgspecError):
        seen = frozenset()
    if not seen and file.data_digest == data_digest(own):
        return len(own), len(own)
    return sum(seen_as(one) in seen for one in own), len(own)
