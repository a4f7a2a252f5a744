"""``s1gw calibrate thresholds``: how sure an answer must be, for a budget or for several."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gateway_core.cli.calibrate.examples import examples_from, source_of, source_options
from gateway_core.cli.calibrate.inforce import fits_for
from gateway_core.cli.calibrate.rows import (
    BUDGETS,
    THRESHOLDS,
    budget_row,
    threshold_row,
    unmet_line,
)
from gateway_core.cli.faults import told_plainly
from gateway_core.cli.terminal import say, table

if TYPE_CHECKING:
    from gateway_core.calibration import Calibrator
    from gateway_core.evaluation.example import Example

IN_USE: Final = "Running gateways use it within a second."
_BUDGETS: Final = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2)


def as_share(_: click.Context, __: click.Parameter, text: str | None) -> float | None:
    """Return a share between 0 and 1 that is written as 0.05 or 5%."""
    if text is None:
        return None
    try:
        found = float(text.strip().removesuffix("%")) / (100 if "%" in text else 1)
    except ValueError:
        found = -1.0
    if not 0 < found < 1:
        raise click.BadParameter("expected a share between 0 and 1, such as 5% or 0.05")
    return found


@click.command()
@source_options
@click.option("--provider", "providers", multiple=True, help="Whose answers; repeat it.")
@click.option("--max-error", callback=as_share, help="How many may be wrong: 5%.")
@click.option("--apply", "apply_them", is_flag=True, help="Use the thresholds from now on.")
@click.pass_obj
def thresholds(config_path: Path | None, /, **options: Any) -> None:
    """Find how sure an answer must be for few enough accepted answers to be wrong.

    The budget holds with 95% confidence for each line on its own, on questions like those of
    the examples. Use other examples than the fit was made from. Without --max-error, a table
    shows which budgets these examples can keep.
    """
    source, rest = source_of(options)
    max_error = rest["max_error"]
    if rest["apply_them"] and max_error is None:
        raise click.UsageError("--apply needs --max-error: the budget that is to hold")
    with told_plainly():
        examples = examples_from(source, rest["providers"], config_path)
        fits = fits_for(examples)
        if max_error is None:
            _show_budgets(examples, fits)
            return
        path = _measure(examples, fits, max_error, apply_them=rest["apply_them"])
    if path is not None:
        say(f"\nWritten to {path}. {IN_USE}")


def _measure(
    examples: "list[Example]", fits: "Calibrator", max_error: float, *, apply_them: bool
) -> Path | None:
    from gateway_core.calibration.thresholdfile import apply_thresholds
    from gateway_core.config.paths import state_dir
    from gateway_core.evaluation.budget import measure_thresholds

    measured, unmet = measure_thresholds(examples, fits, max_error)
    path = None
    if apply_them and measured:
        path = apply_thresholds(state_dir(), measured, datetime.now(UTC))
    if measured:
        table([threshold_row(one) for one in measured], THRESHOLDS)
    for one in unmet:
        click.echo(unmet_line(one), err=True)
    if not measured:
        click.echo("Without --max-error, a table shows which budgets can be kept.", err=True)
        raise SystemExit(1)
    return path


def _show_budgets(examples: "list[Example]", fits: "Calibrator") -> None:
    from gateway_core.evaluation.budget import measure_thresholds

    rows: list[list[str]] = []
    for budget in _BUDGETS:
        measured, unmet = measure_thresholds(examples, fits, budget)
        rows += [budget_row(one, budget) for one in measured]
        rows += [budget_row(one, budget) for one in unmet]
    rows.sort(key=lambda row: row[:4])
    table(rows, BUDGETS)
