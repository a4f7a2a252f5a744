"""``s1gw models``: what the providers serve, as far as they say so themselves."""

from pathlib import Path

import click

from gateway_core.cli.terminal import say_json, table


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_obj
def models(config_path: Path | None, *, as_json: bool) -> None:
    """List the models of the operator's providers; nobody is asked for it."""
    import asyncio

    rows = asyncio.run(_models(config_path))
    if as_json:
        say_json([{"id": name, "provider": by, "format": wire} for name, by, wire in rows])
    else:
        table(rows, ("MODEL", "PROVIDER", "FORMAT"))


async def _models(config_path: Path | None) -> list[tuple[str, str, str]]:
    from gateway_core.gateway import Gateway

    async with Gateway.open(config_path) as gateway:
        return [
            (f"{provider.name}/{model.id}", provider.name, model.format.value)
            for provider in gateway.scene.registry.usable()
            for model in await provider.models()
        ]
