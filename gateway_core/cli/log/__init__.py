"""``s1gw log``: what the gateway decided, and what would have been right."""

import json
import sys
from pathlib import Path

import click

from gateway_core.cli.log.export import write_csv, write_jsonl
from gateway_core.cli.log.labels import label_all, read_labels
from gateway_core.cli.log.printing import follow, print_entries
from gateway_core.cli.paths import UserPath
from gateway_core.cli.terminal import plain, say, say_json
from gateway_core.decisionlog.reader import COLUMNS, LogReader
from gateway_core.errors import InvalidRequest


def open_log(config_path: Path | None) -> LogReader:
    """Open the decision log that the configuration names.

    Raises:
        ConfigError: there is none, or it cannot be used.
    """
    from gateway_core.config.load import load_config
    from gateway_core.config.paths import state_dir
    from gateway_core.decisionlog.watch import log_path

    config = load_config(config_path).config.decision_log
    return LogReader(log_path(config, state_dir()))


@click.group()
def log() -> None:
    """Read the decision log, and label what is in it.

    The log is off unless the configuration says [decision_log] enabled = true. It is kept on
    this machine alone, and without questions, options and contexts unless content = true.
    """


@log.command()
@click.option("-n", "--lines", "count", type=click.IntRange(1), default=20, show_default=True)
@click.option("-f", "--follow", "go_on", is_flag=True, help="Go on with new ones until Ctrl-C.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON for programs; one a line with --follow."
)
@click.pass_obj
def tail(config_path: Path | None, *, count: int, go_on: bool, as_json: bool) -> None:
    """Print the last decisions, oldest first."""
    with open_log(config_path) as reader:
        if go_on:
            follow(reader, count, as_json=as_json)
            return
        entries = reader.tail(count)
    if as_json:
        say_json(entries)
    else:
        print_entries(entries)


@log.command()
@click.argument("request_id")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def show(config_path: Path | None, request_id: str, *, as_json: bool) -> None:
    """Print all that is known of one call: its answer, and those of its shadows."""
    with open_log(config_path) as reader:
        entries = reader.show(request_id)
    if not entries:
        raise InvalidRequest(f"the log holds no request {request_id!r}", "request_id")
    if as_json:
        say_json(entries)
        return
    for entry in entries:
        say(f"{entry['role']}: {plain(entry['provider'] or 'nobody')}", bold=True)
        for column in COLUMNS:
            if entry[column] is not None:
                say(f"  {column:15}{plain(_text(entry[column]))}")


@log.command()
@click.option(
    "--format", "style", type=click.Choice(["jsonl", "csv"]), default="jsonl", show_default=True
)
@click.option(
    "-o",
    "--output",
    type=UserPath(dir_okay=False, path_type=Path),
    help="The file to write; stdout when absent.",
)
@click.pass_obj
def export(config_path: Path | None, *, style: str, output: Path | None) -> None:
    """Write every entry as JSONL or CSV.

    In CSV, a text that a spreadsheet would run as a formula starts with an apostrophe.
    """
    write = write_csv if style == "csv" else write_jsonl
    with open_log(config_path) as reader:
        if output is None:
            write(sys.stdout, reader.entries())
            return
        try:
            with output.open("w", encoding="utf-8", newline="") as file:
                write(file, reader.entries())
        except OSError as error:
            raise click.BadParameter(
                f"cannot be written: {error.strerror}", param_hint="--output"
            ) from None


@log.command()
@click.argument("request_id", required=False)
@click.argument("gold", required=False)
@click.option(
    "--file",
    "file",
    type=UserPath(exists=True, dir_okay=False, path_type=Path),
    help="A CSV or JSONL file of many: request_id and gold.",
)
@click.option("--skip-bad", is_flag=True, help="Leave out lines that cannot be used.")
@click.pass_obj
def label(
    config_path: Path | None,
    request_id: str | None,
    gold: str | None,
    file: Path | None,
    *,
    skip_bad: bool,
) -> None:
    """Note that GOLD, an option or yes or no, was the right answer of a call.

    With --file, the labels of many calls; either all of them are noted or none, unless
    --skip-bad leaves out those that cannot be used.
    """
    if file is not None:
        if request_id is not None:
            raise click.UsageError("give either --file or a REQUEST_ID with its GOLD")
        with open_log(config_path) as reader:
            label_all(reader, read_labels(file), skip_bad=skip_bad)
        return
    if request_id is None or gold is None:
        raise click.UsageError("give a REQUEST_ID with its GOLD, or --file")
    with open_log(config_path) as reader:
        reader.label(request_id, gold)
    say(f"{plain(request_id)}: {plain(gold)}")


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)
