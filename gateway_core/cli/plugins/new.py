"""``s1gw plugins new``: start a provider."""

import shlex
from pathlib import Path

import click

from gateway_core.cli.paths import UserPath
from gateway_core.cli.terminal import plain, say


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
    type=UserPath(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="Where the folder s1gw-NAME is made; here when absent.",
)
def new(name: str, kind: str, directory: Path) -> None:
    """Write a provider's distribution, with tests that pass, into the folder s1gw-NAME."""
    from gateway_core.catalog import Catalog, PluginKind
    from gateway_core.scaffold import TemplateKind, write_distribution

    folder = write_distribution(name, TemplateKind(kind), directory)
    say(f"Wrote {plain(folder)}. Next:", bold=True)
    shown = plain(shlex.quote(str(folder)))
    say(f"  cd {shown}\n  pip install -e '.[test]'\n  pytest\n  s1gw plugins check {name}")
    for ref in Catalog.installed().refs:
        same = (ref.kind, ref.name) == (PluginKind.PROVIDER, name)
        if same and ref.distribution != folder.name:
            rival = plain(ref.origin)
            say(f"{rival} has the dialect {name!r}: install one of the two", fg="yellow")
