"""Where the ``calibrate`` commands get labelled answers from: a file, the log, the provider."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import click

from gateway_core.cli.log import open_log
from gateway_core.cli.paths import UserPath
from gateway_core.errors import InvalidRequest

if TYPE_CHECKING:
    from gateway_core.evaluation.example import Example
    from gateway_core.evaluation.labelled import Labelled

Command = Callable[..., Any]
_TABLES: Final = (".csv", ".tsv")
_CONTRADICT: Final = (
    "questions have labels that contradict each other; the most frequent label of each counts, "
    "on a tie the one that the provider thought least likely"
)
_DAY: Final = click.DateTime(["%Y-%m-%d"])
_FILE: Final = UserPath(exists=True, dir_okay=False, path_type=Path)


@attrs.frozen(kw_only=True)
class ExampleSource:
    """Where examples come from, as the command line says.

    Attributes:
        file: a JSONL or CSV file of labelled questions.
        from_log: whether the decision log's labelled entries are used instead.
        skip_bad: whether lines that cannot be used are left out.
        model: the model to ask; of recorded answers, only those that it gave count.
        yes: whether the provider may be asked.
        concurrency: how many questions may be under way at once.
        per_minute: how many questions may be asked a minute.
        columns: the names of columns of a CSV that are called otherwise, as ``VALUE=NAME``.
        since: the first day whose answers count, such as ``2026-01-31``.
        until: the last one.
    """

    file: Path | None
    from_log: bool
    skip_bad: bool
    model: str | None
    yes: bool
    concurrency: int
    per_minute: float | None
    columns: tuple[str, ...]
    since: datetime | None
    until: datetime | None


def source_options(command: Command) -> Command:
    """Give a command the options that say where its examples come from."""
    options = (
        click.argument("file", metavar="[LABELLED]", type=_FILE, required=False),
        click.option("--from-log", is_flag=True, help="Use labelled entries of the decision log."),
        click.option("--skip-bad", is_flag=True, help="Leave out lines that cannot be used."),
        click.option("--model", help="The model to ask, and whose recorded answers count."),
        click.option("--yes", is_flag=True, help="Ask the provider what is not answered yet."),
        click.option(
            "--concurrency",
            type=click.IntRange(1, 64),
            default=4,
            show_default=True,
            help="How many questions are under way at once.",
        ),
        click.option(
            "--per-minute",
            type=click.FloatRange(0, min_open=True),
            help="How many questions are asked a minute at most.",
        ),
        click.option(
            "--column",
            "columns",
            multiple=True,
            metavar="VALUE=NAME",
            help="A CSV's column that is called otherwise: question=Text; repeat it.",
        ),
        click.option("--since", type=_DAY, help="Leave out what was logged before that day."),
        click.option("--until", type=_DAY, help="Leave out what was logged after that day."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def source_of(options: dict[str, Any]) -> tuple[ExampleSource, dict[str, Any]]:
    """Take the source's options out of a command's, and return both.

    Raises:
        click.UsageError: there is no source, or there are two.
    """
    names = {attribute.name for attribute in attrs.fields(ExampleSource)}
    source = ExampleSource(**{name: options[name] for name in names})
    if (source.file is None) != source.from_log:
        raise click.UsageError("give either a LABELLED file (JSONL or CSV) or --from-log")
    return source, {name: value for name, value in options.items() if name not in names}


def examples_from(
    source: ExampleSource, providers: Sequence[str], config_path: Path | None
) -> "list[Example]":
    """Return the labelled answers of ``providers``, asking them where that is allowed.

    Args:
        source: where from.
        providers: whose answers; of everyone who has recorded ones when empty.
        config_path: the configuration file.

    Raises:
        InvalidRequest: lines cannot be used, or nothing can.
        SystemExit: a provider would have to be asked, and ``--yes`` is not given.
    """
    labelled = _labelled(source, config_path)
    recorded = {one.recorded.provider for one in labelled if one.recorded}
    found: list[Example] = []
    for name in providers or sorted(recorded):
        found += asyncio.run(_answers_of(name, labelled, source, config_path))
    if not found:
        raise InvalidRequest("there is no labelled answer to use; --provider asks for some")
    return found


def _labelled(source: ExampleSource, config_path: Path | None) -> "list[Labelled]":
    from gateway_core.evaluation.agreement import contradictions, golds_of
    from gateway_core.evaluation.labelled import read_entries, read_labelled, read_rows
    from gateway_core.evaluation.tabular import read_csv

    if source.file is not None and source.file.suffix.lower() in _TABLES:
        rows = read_csv(source.file.read_bytes(), _columns(source.columns))
        found, left_out = read_rows(rows, skip_bad=source.skip_bad)
    elif source.file is not None:
        with source.file.open("rb") as lines:
            found, left_out = read_labelled(lines, skip_bad=source.skip_bad)
    else:
        with open_log(config_path) as reader:
            labelled = (entry for entry in reader.entries() if entry["gold"] is not None)
            usable = (e for e in labelled if e["question"] or e["probabilities"])
            found, left_out = read_entries(usable, skip_bad=source.skip_bad)
    _tell(left_out, "lines cannot be used and were left out")
    found = _within(source, found)
    answers = {(one.key, one.recorded and one.recorded.provider) for one in found}
    _tell(len(found) - len(answers), "examples repeat a question; each question counts once")
    _tell(contradictions(golds_of(found)), _CONTRADICT)
    if source.model is None:
        return found
    return [_only(one, source.model) for one in found]


def _columns(pairs: Sequence[str]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        value, equals, name = pair.partition("=")
        if not equals or not value or not name:
            raise click.BadParameter("expected VALUE=NAME, such as question=Text", None, None)
        found[value] = name
    return found


def _within(source: ExampleSource, found: "list[Labelled]") -> "list[Labelled]":
    """Return what was given within the days that count."""
    if source.since is None and source.until is None:
        return found
    first = "" if source.since is None else f"{source.since:%Y-%m-%d}"
    last = "9999" if source.until is None else f"{source.until:%Y-%m-%d}"
    kept = [one for one in found if one.given and first <= one.given[:10] <= last]
    _tell(sum(not one.given for one in found), "examples do not say when; they were left out")
    return kept


def _tell(count: int, what: str) -> None:
    if count:
        click.echo(f"note: {count:,} {what}", err=True)


def _only(one: "Labelled", model: str) -> "Labelled":
    other = one.recorded is not None and one.recorded.model != model
    return attrs.evolve(one, recorded=None) if other else one


async def _answers_of(
    name: str, labelled: "list[Labelled]", source: ExampleSource, config_path: Path | None
) -> "list[Example]":
    from gateway_core import logs
    from gateway_core.evaluation.answers import Answers
    from gateway_core.evaluation.asking import AskingBounds, examples_of, missing

    answers = Answers(Path())
    if not missing(labelled, answers, name):
        return examples_of(labelled, answers, name)
    from gateway_core.cli.calibrate.asking import QuestionPlan
    from gateway_core.gateway import Gateway

    logs.setup(level="warning")
    async with Gateway.open(config_path) as gateway:
        provider = gateway.parts.registry.provider(name)
        model = source.model or provider.model
        answers = Answers.load(_kept_in(name, model))
        todo = missing(labelled, answers, name)
        kept = len({one.key for one in labelled} & answers.by_key.keys())
        _tell(kept, f"answers are from before, in {answers.path}; delete it to ask again")
        plan = QuestionPlan.of(provider, todo, gateway.config.decide.timeout_s, model)
        bounds = AskingBounds(concurrency=source.concurrency, per_minute=source.per_minute)
        await plan.carry_out(answers, bounds, yes=source.yes)
    return examples_of(labelled, answers, name)


def _kept_in(provider: str, model: str) -> Path:
    from gateway_core.cli.calibrate.saving import safe_name
    from gateway_core.config.paths import state_dir

    # A model's name may hold what a file's name must not.
    suffix = hashlib.sha256(model.encode()).hexdigest()[:8]
    return state_dir() / "calibration" / "answers" / f"{safe_name(provider)}-{suffix}.jsonl"
