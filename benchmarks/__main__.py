"""`python -m benchmarks`: measure, and write docs/performance.md."""

from collections.abc import Callable, Sequence
from typing import Final

import click

from benchmarks import decide, endurance, plot, relay, relay_report, reports, scale, startup
from benchmarks.document import PLOT, write
from benchmarks.effort import FULL, QUICK, Effort
from benchmarks.processes import need


def _relay(effort: Effort) -> str:
    matrix = relay.measure(effort)
    if effort is FULL:
        plot.draw(matrix, PLOT)
    return relay_report.render(matrix)


PARTS: Final[dict[str, Callable[[Effort], str]]] = {
    "startup": lambda effort: reports.render_startup(startup.measure(effort)),
    "decide": lambda effort: reports.render_decide(decide.measure(effort)),
    "scale": lambda effort: reports.render_scale(scale.measure(effort)),
    "endurance": lambda effort: reports.render_endurance(endurance.measure(effort)),
    "relay": _relay,
}


@click.command()
@click.option("--quick", is_flag=True, help="About a minute, and shown only: nothing is written.")
@click.option("--part", "parts", multiple=True, type=click.Choice(list(PARTS)), help="Only this.")
def main(quick: bool, parts: Sequence[str]) -> None:
    """Measure s1gw beside nginx, LiteLLM proxy and going direct, on this machine."""
    need("nginx", "wrk", "taskset")
    for name in parts or PARTS:
        click.echo(f"-- {name}")
        content = PARTS[name](QUICK if quick else FULL)
        click.echo(content)
        if not quick:
            write(name, content)


if __name__ == "__main__":
    main()
