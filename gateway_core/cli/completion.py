"""``s1gw completion``: what a shell needs to complete commands and options."""

import click
from click.shell_completion import get_completion_class

from gateway_core.errors import ConfigError

_PLACES = """\b
bash: s1gw completion bash > ~/.local/share/bash-completion/completions/s1gw
zsh:  s1gw completion zsh > "${fpath[1]}/_s1gw"
fish: s1gw completion fish > ~/.config/fish/completions/s1gw.fish"""


@click.command(epilog=_PLACES)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell."""
    found = get_completion_class(shell)
    if found is None:
        raise ConfigError(f"no completion for {shell}")
    click.echo(found(ctx.find_root().command, {}, "s1gw", "_S1GW_COMPLETE").source())
