"""``s1gw serve``: the gateway as an MCP server on stdio, or as an HTTP server."""

from pathlib import Path
from typing import Any

import click

from gateway_core.cli.paths import UserPath


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
@click.pass_obj
def serve(config_path: Path | None, /, face: str | None, **options: Any) -> None:
    """Serve until the client leaves, or the process is told to stop."""
    overrides = {name: value for name, value in options.items() if value is not None}
    if face is None:
        raise click.UsageError("say which: --mcp or --http")
    if face == "mcp" and overrides:
        raise click.UsageError("only --http takes other options")
    if face == "mcp":
        from gateway_core.servers.mcp import serve as serve_mcp

        serve_mcp(config_path)
    else:
        from gateway_core.servers.http.serve import Options
        from gateway_core.servers.http.serve import serve as serve_http

        serve_http(Options(config_path=config_path, overrides=overrides))
