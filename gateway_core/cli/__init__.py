"""The command ``s1gw``: each command is imported when it is used, and what it needs with it."""

import errno
import os
import sys
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final

import click

from gateway_core.cli.paths import UserPath
from gateway_core.errors import ConfigError, GatewayError
from gateway_core.version import __version__

COMMANDS: Final = {
    "calibrate": ("calibrate", "Make confidence mean what it says, from known answers."),
    "capabilities": ("report", "Say who answers, within which limits, and what is installed."),
    "compare": ("compare", "Compare two providers on the questions that both were asked."),
    "completion": ("completion", "Print the completion script of a shell."),
    "config": ("config", "Find, show, check or start the configuration."),
    "decide": ("decide", "Ask one question; without options it is answered yes or no."),
    "health": ("report", "Probe the providers of the chain; this costs nothing."),
    "keys": ("keys", "Make, list, revoke and replace the keys of the HTTP gateway."),
    "log": ("log", "Read the decision log, and label what is in it."),
    "mcp": ("mcp", "Add the gateway to an MCP client, or take it out."),
    "models": ("models", "List the models of the operator's providers."),
    "plugins": ("plugins", "List the installed plugins, or check one."),
    "schema": ("schema", "Print the JSON Schemas of a decision."),
    "serve": ("serve", "Serve MCP over stdio, or the relay over HTTP."),
    "toggle": ("toggle", "Switch deciding off or on, or say which it is."),
}
"""Every command: the module of this package that defines it under the same name, and what
``s1gw --help`` says of it without importing that module."""


class CommandFailure(click.ClickException):
    """A failure that is told in one line per fault, and never with a traceback."""

    def __init__(self, *faults: str) -> None:
        super().__init__("\n".join(faults))

    def show(self, file: Any = None) -> None:
        """Print the faults to stderr."""
        # Most commands end without a failure, and then need none of this.
        from gateway_core.cli.terminal import say_aside

        for fault in self.message.splitlines():
            say_aside("error: ", fg="red", bold=True, nl=False)
            click.echo(fault, file=file, err=file is None)


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is looked up."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*super().list_commands(ctx), *COMMANDS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None when there is none of this name."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module = import_module(f"{__name__}.{COMMANDS[cmd_name][0]}")
        found: click.Command = getattr(module, cmd_name)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, importing none of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; the gateway's own errors become messages."""
        try:
            return super().invoke(ctx)
        except ConfigError as error:
            raise CommandFailure(*error.faults) from None
        except GatewayError as error:
            raise CommandFailure(str(error)) from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # click ends quietly when nobody reads on
            raise CommandFailure(f"{error.filename or 'output'}: {error.strerror}") from None


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--config",
    "config_path",
    type=UserPath(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The configuration file; the usual place when absent (s1gw config path).",
)
@click.version_option(__version__, prog_name="s1gw")
@click.pass_context
def main(ctx: click.Context, config_path: Path | None) -> None:
    """Ask decision models one question, or relay decision requests.

    s1gw answers through whichever decision model is configured, or through a small one that
    works on this machine, from the shell, over MCP and over HTTP.
    """
    ctx.obj = config_path
    _open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that lacks a character shows its code instead of ending in an error.
            stream.reconfigure(errors="backslashreplace")


def _open_missing_streams() -> None:
    """Give a process that was started without one of its standard streams an empty one."""
    # In this order: each takes the lowest free number, which no other file must get.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115  # it stays open
            setattr(sys, name, stream)
