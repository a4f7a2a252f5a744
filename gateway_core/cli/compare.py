"""``s1gw compare``: what a decision log says about two providers."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gateway_core.cli.faults import told_plainly
from gateway_core.cli.log import open_log
from gateway_core.cli.terminal import percent, plain, say, say_json, table

if TYPE_CHECKING:
    from gateway_core.calibration.fitfile import Estimate
    from gateway_core.evaluation.compare import Comparison, Side

_SHOWN = 5


@click.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def compare(config_path: Path | None, first: str, second: str, *, as_json: bool) -> None:
    """Compare two providers on the questions that both were asked.

    Both appear in the decision log: one as the chain's answer, say, and one as its shadow
    ([decision_log] shadow). Who is right shows where answers are labelled (s1gw log label).
    """
    if first == second:
        raise click.UsageError("A and B are the same provider")
    with told_plainly(), open_log(config_path) as reader:
        import attrs

        from gateway_core.evaluation.compare import compare as compare_log

        found = compare_log(reader.entries(), first, second)
    if as_json:
        say_json(attrs.asdict(found))
    else:
        _show(found)


def _show(found: "Comparison") -> None:
    heading = ("provider", "answered", "failed", "median ms", "accuracy (95% interval)")
    table([_row(side) for side in (found.first, found.second)], heading)
    say()
    if found.agreement is None:
        say("The log holds no question that both answered.")
        return
    say(f"They agree on {interval(found.agreement)} of {found.pairs} questions.")
    if found.difference is None:
        say("No answer of these is labelled: s1gw log label REQUEST_ID GOLD.")
    else:
        say(
            f"{plain(found.first.provider)} less {plain(found.second.provider)}, accuracy on "
            f"{found.labelled} labelled questions: {interval(found.difference)}, "
            f"p = {found.p_value:.2g} (McNemar's exact test)"
        )
    if found.disagreements:
        last = ", ".join(map(plain, found.disagreements[-_SHOWN:]))
        say(f"They last disagreed on: {last} (s1gw log show REQUEST_ID)")


def _row(side: "Side") -> list[str]:
    took = "-" if side.latency_ms is None else f"{side.latency_ms:.0f}"
    accuracy = "-" if side.accuracy is None else interval(side.accuracy)
    return [side.provider, str(side.answered), str(side.failed), took, accuracy]


def interval(number: "Estimate") -> str:
    """Return a share with its interval, in percent."""
    value, low, high = (percent(one) for one in (number.value, number.low, number.high))
    return f"{value} ({low} to {high})"
