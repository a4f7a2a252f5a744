"""``s1gw mcp``: the gateway added to an MCP client's own file, and taken out again."""

import json
from pathlib import Path

import click

from gateway_core.cli.mcp.clients import CLIENTS, SERVER, Client, entry_for
from gateway_core.cli.mcp.jsonfile import JsonFile, diff
from gateway_core.cli.terminal import say
from gateway_core.files import replace_file

_CLIENT = click.argument("client", type=click.Choice(list(CLIENTS)))
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Show what would change, and stop.")


@click.group()
def mcp() -> None:
    """Add the gateway to an MCP client, or take it out."""


@mcp.command()
@_CLIENT
@_DRY_RUN
@click.option("--print", "as_text", is_flag=True, help="Print what to add by hand, and stop.")
@click.pass_obj
def install(config_path: Path | None, client: str, *, dry_run: bool, as_text: bool) -> None:
    """Add the gateway to CLIENT's file; a copy of the file is kept, and no key is written."""
    chosen = CLIENTS[client]
    if as_text:
        say(json.dumps({chosen.servers: {SERVER: entry_for(chosen, config_path)}}, indent=2))
        return
    before = JsonFile.read(chosen.file())
    known = before.servers(chosen.servers).get(SERVER)
    entry = entry_for(chosen, config_path, known if isinstance(known, dict) else None)
    if known == entry:
        say(f"{chosen.title} has s1gw already: {before.path}")
        return
    after = before.replaced(chosen.servers, SERVER, entry)
    if dry_run:
        say(diff(before, after))
        return
    backup = before.backup.path
    # The copy of the first installation is the one that uninstalling restores.
    if known is None or not backup.exists():
        replace_file(backup, before.content, mode=0o600)
    after.write(before)
    say(f"Added to {chosen.title}: {before.path}\nRestart {chosen.title} to see its tools.")


@mcp.command()
@_CLIENT
@_DRY_RUN
def uninstall(client: str, *, dry_run: bool) -> None:
    """Take the gateway out of CLIENT's file, and restore what was there before."""
    chosen = CLIENTS[client]
    before = JsonFile.read(chosen.file())
    if SERVER not in before.servers(chosen.servers):
        say(f"{chosen.title} does not have s1gw: {before.path}")
        return
    original = JsonFile.read(before.backup.path)
    after = _without(before, original, chosen)
    if dry_run:
        say(diff(before, after))
        return
    if after.content:
        after.write(before)
    else:
        before.path.resolve().unlink()
    original.path.unlink(missing_ok=True)
    say(f"Taken out of {chosen.title}: {before.path}")


def _without(before: JsonFile, original: JsonFile, client: Client) -> JsonFile:
    """Return the file as it was, or, if it was edited since, as it is but without our entry."""
    ours = before.servers(client.servers)[SERVER]
    kept = JsonFile(before.path, original.content)
    was_there = original.path.exists()
    if was_there and kept.replaced(client.servers, SERVER, ours).content == before.content:
        return kept
    previous = kept.servers(client.servers).get(SERVER) if was_there else None
    return before.replaced(client.servers, SERVER, previous)
