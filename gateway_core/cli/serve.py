"""``s1gw serve``: the gateway as an MCP server on stdio, or as an HTTP server."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway_core.cli.paths import UserPath

if TYPE_CHECKING:
    from gateway_core.servers.http.checked import Options


@click.command()
@click.option("--mcp", "face", flag_value="mcp", help="Serve the MCP tools over stdio.")
@click.option("--http", "face", flag_value="http", help="Serve the relay, and MCP, over HTTP.")
@click.option("--host", help="The address to listen on, over HTTP.")
@click.option("--port", type=click.IntRange(0, 65535), help="The port to listen on, over HTTP.")
@click.option(
    "--uds",
    type=UserPath(path_type=Path),
    help="A Unix socket to listen on, in place of host and port.",
)
@click.option(
    "--fd", type=click.IntRange(min=0), help="An open descriptor to listen on, in place of them."
)
@click.option(
    "--reuse-port", is_flag=True, default=None, help="Let another gateway listen on the port, too."
)
@click.option("--workers", type=click.IntRange(min=1), help="Server processes, over HTTP.")
@click.option(
    "--reload",
    is_flag=True,
    default=None,
    help="Apply changes of the configuration and its files as they are made.",
)
@click.option(
    "--auth",
    type=click.Choice(["keys", "disabled"]),
    help="Whether callers need keys; without, whoever reaches the port uses your providers.",
)
@click.option(
    "--open-to-network",
    is_flag=True,
    default=None,
    help="Listen beyond this machine although auth is disabled.",
)
@click.option(
    "--tls-certificate",
    type=UserPath(dir_okay=False, path_type=Path),
    help="A PEM file with the certificate chain, to serve HTTPS.",
)
@click.option(
    "--tls-key",
    type=UserPath(dir_okay=False, path_type=Path),
    help="The PEM file of the certificate's key.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Start over HTTP, make one request for each organization that reaches nobody, and end:"
    " 0 when each was served, 1 otherwise.",
)
@click.pass_obj
def serve(config_path: Path | None, /, face: str | None, *, check: bool, **options: Any) -> None:
    """Serve until the client leaves, or the process is told to stop."""
    overrides = {name: value for name, value in options.items() if value is not None}
    if face is None:
        raise click.UsageError("say which: --mcp or --http")
    if face == "mcp" and (overrides or check):
        raise click.UsageError("only --http takes other options")
    if face == "mcp":
        from gateway_core.servers.mcp import serve as serve_mcp

        serve_mcp(config_path)
    else:
        from gateway_core.servers.http.checked import Options

        _serve_http(Options(config_path=config_path, overrides=overrides), check=check)


def _serve_http(options: "Options", *, check: bool) -> None:
    if check:
        from gateway_core.cli.trial.show import show_trial

        show_trial(options)
    else:
        from gateway_core.servers.http.serve import serve

        serve(options)
