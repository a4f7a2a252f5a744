"""``s1gw calibrate report``: providers side by side, as tables, a page, JSON or CSV."""

import csv
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway_core.cli.calibrate.examples import (
    ExampleSource,
    examples_from,
    source_of,
    source_options,
)
from gateway_core.cli.calibrate.inforce import fits_for, thresholds_in_force
from gateway_core.cli.faults import told_plainly
from gateway_core.cli.paths import UserPath
from gateway_core.cli.terminal import plain, say, say_json, table
from gateway_core.files import replace_file

if TYPE_CHECKING:
    from gateway_core.evaluation.example import Example
    from gateway_core.evaluation.report.parts import Summary


@click.command()
@source_options
@click.option("--provider", "providers", multiple=True, help="Whose answers; repeat it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs, write no page.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the table as CSV, write no page.")
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
    """Measure providers side by side; prints a table and writes one HTML page.

    Each model and kind of question has a row of its own.
    """
    source, rest = source_of(options)
    with told_plainly():
        from gateway_core.evaluation.report import page, summary

        examples = examples_from(source, rest["providers"], config_path)
        found = summary(examples, fits_for(examples), thresholds_in_force())
        named = _source(source, examples)
        text = page(found, datetime.now(UTC), named)
    if rest["as_json"]:
        say_json({"source": named, **_plain(found)})
    elif rest["as_csv"]:
        csv.writer(sys.stdout, lineterminator="\n").writerows([found.heading, *found.rows()])
    else:
        _show(found)
        # The report of last time must not be lost to a full disk.
        replace_file(rest["output"], text.encode())
        say(f"\nWritten to {rest['output']}")


def _source(source: ExampleSource, examples: "Sequence[Example]") -> str:
    from gateway_core.evaluation.example import data_digest

    name = "the decision log" if source.file is None else source.file.name
    return f"{len(examples):,} answers of {name}, {data_digest(examples)}"


def _show(found: "Summary") -> None:
    table(found.rows(), found.heading)
    for pair in found.pairs:
        say(f"{plain(pair.first)} against {plain(pair.second)}: {pair.gap}")
    if off := found.off():
        say("\nThese are not as sure as they are right; one temperature is not enough for them:")
        table(off, found.columns)


def _plain(found: "Summary") -> dict[str, Any]:
    """Return the report for programs, without the numbers of each single answer."""
    import attrs

    def small(attribute: Any, _: object) -> bool:
        return attribute.name not in ("raw", "calibrated", "latencies")

    return attrs.asdict(found, filter=small)
