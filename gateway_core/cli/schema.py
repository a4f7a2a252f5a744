"""``s1gw schema``: the published JSON Schemas."""

import click

from gateway_core.cli.terminal import say_json


@click.command()
@click.argument("name", type=click.Choice(["request", "response"]), required=False)
def schema(name: str | None) -> None:
    """Print the JSON Schema of a decide request or response, or both in one object."""
    from gateway_core.schema import REQUEST, RESPONSE, text_of

    found = {"request": REQUEST, "response": RESPONSE}
    if name is None:
        say_json(found)
    else:
        click.echo(text_of(found[name]), nl=False)
