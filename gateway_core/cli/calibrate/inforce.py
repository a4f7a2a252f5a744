"""The fits in force, and what to know about them before numbers are read."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gateway_core.cli.terminal import plain

if TYPE_CHECKING:
    from gateway_core.calibration import Calibrator
    from gateway_core.evaluation.example import Example


def fits_for(examples: "Sequence[Example]") -> "Calibrator":
    """Return the fits in force; tell those that cannot be read, or were made from ``examples``."""
    from gateway_core.calibration import Calibrator
    from gateway_core.config.paths import state_dir

    found = Calibrator.load(state_dir() / "calibration")
    for note in (*found.problems, *_flattered(found, examples)):
        click.echo(f"note: {plain(note)}", err=True)
    return found


def _flattered(calibrator: "Calibrator", examples: "Sequence[Example]") -> list[str]:
    from gateway_core.evaluation.example import data_digest

    providers = {one.provider for one in examples}
    digests = {data_digest(one for one in examples if one.provider == name) for name in providers}
    return [
        f"fit {fit.id} was made from these very examples, which flatters what is measured with it; "
        "other examples tell the truth"
        for fit in calibrator.fits
        if fit.data_digest in digests
    ]
