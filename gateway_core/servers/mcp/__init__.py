"""The MCP face: three tools over stdio (``serve``), or over HTTP in the HTTP server."""

import gc
from pathlib import Path


def serve(config_path: Path | None = None) -> None:
    """Serve over stdin and stdout until the client leaves or the process is told to stop.

    Faults of the configuration are reported by the tools; if ``S1GW_STRICT_PLUGINS`` makes
    them fatal, the process ends with 1.

    Args:
        config_path: the configuration file; the usual place when absent.
    """
    # A client waits for all these imports, and next to nothing that they make is garbage.
    gc.disable()
    from gateway_core.servers.mcp.stdio import run

    run(config_path)
