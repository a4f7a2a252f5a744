"""``s1gw calibrate``: temperatures, thresholds and a report from labelled answers."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from gateway_core.cli.calibrate.examples import examples_from, source_of, source_options
from gateway_core.cli.calibrate.inforce import fits_for
from gateway_core.cli.calibrate.rows import (
    FITS,
    THRESHOLDS,
    fit_row,
    tell_refused,
    threshold_row,
    unmet_line,
)
from gateway_core.cli.faults import told_plainly
from gateway_core.cli.paths import UserPath
from gateway_core.cli.terminal import plain, say, table
from gateway_core.files import replace_file

_IN_USE: Final = "Running gateways use it within a second."


_HELP: Final = """Make confidence mean what it says, from answers whose truth is known.

\b
A line of LABELLED.jsonl:
  {"question": "Which team?", "options": ["billing", "tech"], "gold": "billing"}

Leave options out for yes or no. Lines that hold probabilities, provider and model, such as
those of s1gw log export, need nobody to be asked.

Logged answers are for measuring and calibrating. Check the provider's terms before anything
more: some forbid training on their output.
"""


def _share(_: click.Context, __: click.Parameter, text: str) -> float:
    """Return a share between 0 and 1 that is written as 0.05 or 5%."""
    try:
        found = float(text.strip().removesuffix("%")) / (100 if "%" in text else 1)
    except ValueError:
        found = -1.0
    if not 0 < found < 1:
        raise click.BadParameter("expected a share between 0 and 1, such as 5% or 0.05")
    return found


@click.group(help=_HELP)
def calibrate() -> None:
    """Group the commands."""


@calibrate.command()
@source_options
@click.option("--provider", required=True, help="The provider to fit.")
@click.option("--pooled", is_flag=True, help="Fit one more temperature over all option counts.")
@click.option("--force", is_flag=True, help="Keep fits that do not help on held-out folds.")
@click.pass_obj
def fit(config_path: Path | None, /, **options: Any) -> None:
    """Fit temperatures to labelled answers of one provider, and use them from now on."""
    source, rest = source_of(options)
    with told_plainly():
        from gateway_core.evaluation.fitting import fit_all

        examples = examples_from(source, [rest["provider"]], config_path)
        fits, refused = fit_all(examples, pooled=rest["pooled"], force=rest["force"])
        if fits:
            table([fit_row(one) for one in fits], FITS)
        tell_refused(fits, refused)
        if not fits:
            raise SystemExit(1)
        from gateway_core.cli.calibrate.saving import save_fits

        path = save_fits(rest["provider"], examples, fits)
    say(f"\nWritten to {path}. {_IN_USE}")


@calibrate.command()
@source_options
@click.option("--provider", "providers", multiple=True, help="Whose answers; repeat it.")
@click.option("--max-error", callback=_share, required=True, help="How many may be wrong: 5%.")
@click.option("--apply", "apply_them", is_flag=True, help="Use the thresholds from now on.")
@click.pass_obj
def thresholds(config_path: Path | None, /, **options: Any) -> None:
    """Find how sure an answer must be for few enough accepted answers to be wrong.

    The budget holds with 95% confidence for each line on its own, on questions like those of
    the examples. Use other examples than the fit was made from.
    """
    source, rest = source_of(options)
    with told_plainly():
        from gateway_core.calibration.thresholdfile import apply_thresholds
        from gateway_core.config.paths import state_dir
        from gateway_core.evaluation.budget import measure_thresholds

        examples = examples_from(source, rest["providers"], config_path)
        measured, unmet = measure_thresholds(examples, fits_for(examples), rest["max_error"])
        applied = rest["apply_them"] and measured
        path = apply_thresholds(state_dir(), measured, datetime.now(UTC)) if applied else None
    if measured:
        table([threshold_row(one) for one in measured], THRESHOLDS)
    for one in unmet:
        click.echo(unmet_line(one), err=True)
    if not measured:
        raise SystemExit(1)
    if path is not None:
        say(f"\nWritten to {path}. {_IN_USE}")


@calibrate.command()
@source_options
@click.option("--provider", "providers", multiple=True, help="Whose answers; repeat it.")
@click.option(
    "-o",
    "--output",
    type=UserPath(dir_okay=False, path_type=Path),
    default=Path("calibration-report.html"),
    show_default=True,
    help="The page to write.",
)
@click.pass_obj
def report(config_path: Path | None, /, **options: Any) -> None:
    """Measure providers side by side; prints a table and writes one HTML page."""
    source, rest = source_of(options)
    with told_plainly():
        from gateway_core.evaluation.report import page, summary

        examples = examples_from(source, rest["providers"], config_path)
        found = summary(examples, fits_for(examples))
        text = page(found, datetime.now(UTC))
    table(found.rows(), found.heading)
    for pair in found.pairs:
        say(f"{plain(pair.first)} against {plain(pair.second)}: {pair.gap}")
    # The report of last time must not be lost to a full disk.
    replace_file(rest["output"], text.encode())
    say(f"\nWritten to {rest['output']}")
