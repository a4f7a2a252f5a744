"""``s1gw config``: where the configuration is, what it says, and what is wrong with it."""

from pathlib import Path

import click

from gateway_core.cli.terminal import say, say_aside, say_json
from gateway_core.errors import ConfigError


@click.group()
def config() -> None:
    """Find, show, check or start the configuration."""


@config.command()
@click.pass_obj
def path(config_path: Path | None) -> None:
    """Print the path of the configuration file, whether it exists or not."""
    say(str(_path(config_path)))


@config.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def show(config_path: Path | None, *, as_json: bool) -> None:
    """Print the configuration in force, with secrets hidden."""
    import tomli_w

    from gateway_core.config.display import as_tables
    from gateway_core.config.environment import in_force
    from gateway_core.config.load import load_config

    loaded = load_config(config_path)
    tables = as_tables(loaded.config)
    if as_json:
        say_json(tables)
        return
    say(f"# file: {loaded.config.source or 'none'}")
    for variable in in_force(loaded.environ):
        say(f"# {variable.section}.{variable.key}: from {variable.name}")
    say("# everything else that the file does not say is a default\n")
    click.echo(tomli_w.dumps(tables), nl=False)
    for fault in loaded.faults:
        say_aside(f"fault: {fault}", fg="red")


@config.command(
    epilog="Exit codes: 0 sound, 1 a fault, or with --strict a note. S1GW_STRICT_PLUGINS=1 is as"
    " good as --strict."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.option(
    "--no-secrets",
    is_flag=True,
    help="Read no credential: for where the variables and files of credentials are not.",
)
@click.option("--strict", is_flag=True, help="Count notes as faults.")
@click.pass_obj
def check(config_path: Path | None, *, as_json: bool, no_secrets: bool, strict: bool) -> None:
    """List every fault that a start or a first request would meet, with the way out."""
    from gateway_core.cli.checking import look_through
    from gateway_core.config.load import load_config
    from gateway_core.config.switches import is_strict

    loaded = load_config(config_path, secrets=not no_secrets)
    found = look_through(loaded)
    strict = strict or is_strict(loaded.environ)
    wrong = [*found.faults, *(found.notes if strict else ())]
    if as_json:
        source = loaded.config.source
        file = None if source is None else str(source)
        say_json({"file": file, "faults": found.faults, "notes": found.notes})
        raise SystemExit(1 if wrong else 0)
    for note in () if strict else found.notes:
        say_aside(f"note: {note}", fg="yellow")
    if wrong:
        raise ConfigError(*wrong)
    say("The configuration is sound.", fg="green")


@config.command()
@click.option("--force", is_flag=True, help="Replace a file that is there; it is kept as .bak.")
@click.pass_obj
def init(config_path: Path | None, *, force: bool) -> None:
    """Write a starter file in which every key is explained and commented out."""
    from gateway_core.config.schema import config_schema
    from gateway_core.config.starter import SCHEMA_NAME, starter
    from gateway_core.files import replace_file
    from gateway_core.schema import text_of

    target = _path(config_path)
    if target.exists() and not force:
        raise ConfigError(f"{target} is there already; --force replaces it and keeps a copy")
    if target.exists():
        replace_file(target.with_suffix(".toml.bak"), target.read_bytes())
    replace_file(target, starter().encode())
    replace_file(target.with_name(SCHEMA_NAME), text_of(config_schema()).encode())
    say(f"Written: {target}, and {SCHEMA_NAME} beside it for editors")


@config.command()
def schema() -> None:
    """Print the JSON Schema of the configuration file, for editors and CI."""
    from gateway_core.config.schema import config_schema
    from gateway_core.schema import text_of

    click.echo(text_of(config_schema()), nl=False)


def _path(config_path: Path | None) -> Path:
    from gateway_core.config.paths import config_path as usual

    return config_path or usual()
