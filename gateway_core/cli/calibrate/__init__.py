"""``s1gw calibrate``: temperatures, thresholds and a report from labelled answers."""

from pathlib import Path
from typing import Any, Final

import click

from gateway_core.cli.calibrate.evidence import listing, remove, roll_back, show
from gateway_core.cli.calibrate.examples import examples_from, source_of, source_options
from gateway_core.cli.calibrate.report import report
from gateway_core.cli.calibrate.rows import FITS, fit_row, tell_refused
from gateway_core.cli.calibrate.run import run
from gateway_core.cli.calibrate.thresholds import IN_USE, thresholds
from gateway_core.cli.faults import told_plainly
from gateway_core.cli.terminal import plain, say, table

_HELP: Final = """Make confidence mean what it says, from answers whose truth is known.

\b
A line of LABELLED.jsonl:
  {"question": "Which team?", "options": ["billing", "tech"], "gold": "billing"}

Leave options out for yes or no. Lines that hold probabilities, provider and model, such as
those of s1gw log export, need nobody to be asked.

Logged answers are for measuring and calibrating. Check the provider's terms before anything
more: some forbid training on their output.
"""


@click.group(help=_HELP)
def calibrate() -> None:
    """Group the commands."""


@calibrate.command()
@source_options
@click.option("--provider", required=True, help="The provider to fit.")
@click.option("--pooled", is_flag=True, help="Fit one more temperature over all option counts.")
@click.option("--force", is_flag=True, help="Keep fits that do not help or are saturated.")
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
        from gateway_core.cli.calibrate.inforce import what_it_replaces
        from gateway_core.cli.calibrate.saving import save_fits

        notes = what_it_replaces(rest["provider"], fits)
        path = save_fits(rest["provider"], examples, fits)
    say(f"\nWritten to {path}. {IN_USE}")
    for note in notes:
        click.echo(f"note: {plain(note)}", err=True)


for _command in (run, thresholds, report, listing, show, remove, roll_back):
    calibrate.add_command(_command)
