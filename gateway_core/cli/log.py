"""``s1gw log``: what the gateway decided, and what would have been right."""

import csv
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any, Final

import click

from gateway_core.cli.terminal import percent, plain, say, say_json, table
from gateway_core.decisionlog.reader import COLUMNS, LogReader
from gateway_core.errors import InvalidRequest

_NESTED: Final = ("probabilities", "attempts", "options", "context")
_HEADING: Final = ("when", "request", "provider", "status", "decision", "confidence", "gold")


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
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def tail(config_path: Path | None, *, count: int, as_json: bool) -> None:
    """Print the last decisions, oldest first."""
    with open_log(config_path) as reader:
        entries = reader.tail(count)
    if as_json:
        say_json(entries)
    else:
        table([_row(entry) for entry in entries], _HEADING)


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
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write; stdout when absent.",
)
@click.pass_obj
def export(config_path: Path | None, *, style: str, output: Path | None) -> None:
    """Write every entry as JSONL or CSV."""
    write = _write_csv if style == "csv" else _write_jsonl
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
@click.argument("request_id")
@click.argument("gold")
@click.pass_obj
def label(config_path: Path | None, request_id: str, gold: str) -> None:
    """Note that GOLD, an option or yes or no, was the right answer of a call."""
    with open_log(config_path) as reader:
        reader.label(request_id, gold)
    say(f"{plain(request_id)}: {plain(gold)}")


def _row(entry: Mapping[str, Any]) -> list[str]:
    confidence = entry["confidence"]
    shown = (
        entry["logged_at"][:19].replace("T", " "),
        entry["request_id"],
        f"{entry['provider'] or '-'}{' (shadow)' if entry['role'] == 'shadow' else ''}",
        entry["status"] if entry["reason"] is None else f"{entry['status']}: {entry['reason']}",
        "-" if entry["decision"] is None else str(entry["decision"]),
        "-" if confidence is None else percent(confidence),
        "-" if entry["gold"] is None else str(entry["gold"]),
    )
    return list(shown)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)


def _write_jsonl(file: IO[str], entries: Iterable[Mapping[str, Any]]) -> None:
    for entry in entries:
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def _write_csv(file: IO[str], entries: Iterable[Mapping[str, Any]]) -> None:
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for entry in entries:
        nested = {key: json.dumps(entry[key]) for key in _NESTED if entry[key] is not None}
        writer.writerow({**entry, **nested})
