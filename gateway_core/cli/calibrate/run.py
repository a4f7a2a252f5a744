"""``s1gw calibrate run``: from labelled answers to evidence in force, in one command."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gateway_core.cli.calibrate.examples import examples_from, source_of, source_options
from gateway_core.cli.calibrate.rows import (
    FITS,
    THRESHOLDS,
    fit_row,
    tell_refused,
    threshold_row,
    unmet_line,
)
from gateway_core.cli.calibrate.thresholds import IN_USE, as_share
from gateway_core.cli.faults import told_plainly
from gateway_core.cli.terminal import percent, plain, say, table

if TYPE_CHECKING:
    from gateway_core.calibration.fitfile import FitRecord
    from gateway_core.calibration.thresholdfile import MeasuredThreshold
    from gateway_core.evaluation.example import Example

_TESTED: Final = ("threshold for", "tested on", "coverage", "wrong", "95% interval", "budget")


@click.command()
@source_options
@click.option("--provider", required=True, help="The provider to calibrate.")
@click.option("--budget", callback=as_share, required=True, help="How many may be wrong: 5%.")
@click.option("--dry-run", is_flag=True, help="Measure, and put nothing in force.")
@click.pass_obj
def run(config_path: Path | None, /, **options: Any) -> None:
    """Split, ask, fit, find the threshold for a budget, test it, and put both in force.

    40% of the questions are fitted on, 40% find the threshold, and 20%, which neither has seen,
    test both. Fit and threshold are put in force together, or nothing is.
    """
    source, rest = source_of(options)
    with told_plainly():
        from gateway_core.evaluation.split import split

        parts = split(examples_from(source, [rest["provider"]], config_path))
        say(
            f"{len(parts.fit):,} answers to fit on, {len(parts.threshold):,} to find the "
            f"threshold, {len(parts.test):,} to test both\n"
        )
        record = _fitted(rest["provider"], parts.fit)
        measured = _measured(record, parts.threshold, rest["budget"])
        _test(record, measured, parts.test)
        if not rest["dry_run"]:
            say(f"\nWritten to {_put_in_force(record, measured)}. {IN_USE}")


def _fitted(provider: str, examples: "Sequence[Example]") -> "FitRecord | None":
    """Return the fit, which is not in force yet; None where raw confidence does as well."""
    from gateway_core.cli.calibrate.saving import record_of
    from gateway_core.evaluation.fitting import fit_all

    fits, refused = fit_all(examples, pooled=False, force=False)
    if fits:
        table([fit_row(one) for one in fits], FITS)
        say()
    tell_refused(fits, refused)
    return record_of(provider, examples, fits) if fits else None


def _measured(
    record: "FitRecord | None", examples: "Sequence[Example]", budget: float
) -> "list[MeasuredThreshold]":
    from gateway_core.calibration import Calibrator
    from gateway_core.evaluation.budget import measure_thresholds

    fits = Calibrator((record,) if record else ())
    measured, unmet = measure_thresholds(examples, fits, budget)
    if measured:
        table([threshold_row(one) for one in measured], THRESHOLDS)
    for one in unmet:
        click.echo(unmet_line(one), err=True)
    if not measured:
        click.echo("Nothing was put in force.", err=True)
        raise SystemExit(1)
    return measured


def _test(
    record: "FitRecord | None",
    measured: "Sequence[MeasuredThreshold]",
    examples: "Sequence[Example]",
) -> None:
    """Show what each threshold does on answers that neither it nor its fit has seen."""
    from gateway_core.calibration import Calibrator

    fits = Calibrator((record,) if record else ())
    rows = [
        _tested(row, fits, [one for one in examples if _key(one) == row.key]) for row in measured
    ]
    say()
    table(rows, _TESTED)


def _key(one: "Example") -> tuple[tuple[str, str, str], str]:
    return (one.provider, one.question_type, one.bucket), one.model


def _tested(row: "MeasuredThreshold", fits: Any, examples: "Sequence[Example]") -> list[str]:
    from gateway_core.evaluation.budget import calibrated_confidences
    from gateway_core.evaluation.shares import share

    confidences, _ = calibrated_confidences(examples, fits)
    right = [one.correct for one in examples]
    wrong = [not hit for hit, sure in zip(right, confidences, strict=True) if sure >= row.threshold]
    found = share(wrong)
    if found is None:
        return [row.name, str(len(examples)), percent(0.0), "-", "-", f"{row.max_error:g}"]
    return [
        row.name,
        str(len(examples)),
        percent(len(wrong) / len(examples)),
        percent(found.value),
        f"{percent(found.low)} to {percent(found.high)}",
        f"{row.max_error:g}",
    ]


def _put_in_force(record: "FitRecord | None", measured: "Sequence[MeasuredThreshold]") -> str:
    from gateway_core.calibration.thresholdfile import apply_thresholds
    from gateway_core.cli.calibrate.saving import save_record
    from gateway_core.config.paths import state_dir

    # The threshold first: it brings its fit along, and holds a fit that comes alone back.
    paths = [apply_thresholds(state_dir(), measured, datetime.now(UTC))]
    if record is not None:
        paths.append(save_record(record))
    return plain(" and ".join(map(str, paths)))
