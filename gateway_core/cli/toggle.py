"""``s1gw toggle``: deciding off and on again, for running servers too."""

import click

from gateway_core.cli.terminal import say, say_json
from gateway_core.config.paths import state_dir
from gateway_core.pause import Pause


@click.command()
@click.argument("state", type=click.Choice(["on", "off", "status"]), default="status")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def toggle(state: str, *, as_json: bool) -> None:
    """Switch deciding off or on, or say which it is.

    While it is off, every question is answered with an abstention that says so; running
    servers see it at once, and it survives a restart.
    """
    pause = Pause(state_dir())
    if state == "off":
        pause.start()
    elif state == "on":
        pause.end()
    since = pause.since()
    if as_json:
        say_json({"paused": since is not None, "since": since and since.isoformat()})
    elif since is None:
        say("Deciding is on.")
    else:
        say(f"Deciding is off since {since:%Y-%m-%d %H:%M} UTC. Switch it on: s1gw toggle on")
