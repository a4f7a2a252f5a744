"""``s1gw models``: what the providers serve, as far as they say so themselves."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gateway_core.cli.terminal import say_aside, say_json, table
from gateway_core.errors import ProviderError

if TYPE_CHECKING:
    from gateway_core.provider import Provider


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def models(config_path: Path | None, *, as_json: bool) -> None:
    """List the models of the operator's providers; nobody is asked for it."""
    from gateway_core.cli.running import run

    rows = run(_models(config_path))
    if as_json:
        say_json([{"id": name, "provider": by, "format": wire} for name, by, wire in rows])
    else:
        table(rows, ("model", "provider", "format"))


async def _models(config_path: Path | None) -> list[tuple[str, str, str]]:
    from gateway_core.gateway import Gateway

    async with Gateway.open(config_path) as gateway:
        providers = gateway.parts.registry.usable()
        return [row for provider in providers for row in await _rows(provider)]


async def _rows(provider: "Provider") -> list[tuple[str, str, str]]:
    try:
        models = await provider.models()
    except ProviderError as error:
        say_aside(f"{provider.name}: {error}", fg="red")
        return []
    return [(f"{provider.name}/{model.id}", provider.name, model.format.value) for model in models]
