"""``s1gw plugins new``: start a provider."""

from pathlib import Path

import click

from gateway_core.cli.terminal import say


@click.command(epilog="The folder must not exist yet.")
@click.argument("name")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["systemone", "openai", "custom"]),
    default="systemone",
    show_default=True,
    help="What the upstream speaks; custom is translated.",
)
@click.option(
    "--directory",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="Where the folder s1gw-NAME is made; here when absent.",
)
def new(name: str, kind: str, directory: Path) -> None:
    """Write a provider's distribution, with tests that pass, into the folder s1gw-NAME."""
    from gateway_core.scaffold import Kind, write_distribution

    folder = write_distribution(name, Kind(kind), directory)
    say(f"Wrote {folder}. Next:", bold=True)
    say(f"  cd {folder}\n  pip install -e '.[test]'\n  pytest\n  s1gw plugins check {name}")
