"""s1gw with everything on: `python -m benchmarks.gateway CONFIG PORT WORKERS`.

The destination policy forbids loopback, where a benchmark has to stay. So the provider's base URL
names an address set aside for documentation (RFC 5737), which the policy judges as it judges any,
and the connection that it allows is opened to loopback instead.
"""

import asyncio
import ssl
import sys
from pathlib import Path
from typing import Any

from gateway_core import outbound
from gateway_core.outbound import dial
from gateway_core.servers.http import serve, services


async def dial_loopback(
    protocol: asyncio.BaseProtocol,
    host: str,  # noqa: ARG001 - the seam's argument, replaced on purpose
    port: int,
    tls: ssl.SSLContext | None,
    server_name: str | None,
) -> None:
    """Connect to the same port on loopback."""
    await dial.system_dial(protocol, "127.0.0.1", port, tls, server_name)


def loopback_outbound(environ: Any) -> outbound.Outbound:
    """Return the way out whose connections all lead to loopback."""
    return outbound.Outbound(environ, dial=dial_loopback)


def main() -> None:
    """Serve as the arguments say."""
    overrides: dict[str, Any] = {"port": int(sys.argv[2]), "workers": int(sys.argv[3])}
    serve.serve(serve.Options(config_path=Path(sys.argv[1]), overrides=overrides))


# A worker is a new interpreter, which imports this module under the second name.
if __name__ in ("__main__", "__mp_main__"):
    services.Outbound = loopback_outbound  # type: ignore[attr-defined,assignment]
if __name__ == "__main__":
    main()
