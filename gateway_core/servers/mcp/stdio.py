"""``s1gw serve --mcp``: the tools over stdin and stdout.

stdout carries the protocol and nothing else: file descriptor 1 leads to stderr before the
first plugin is imported and stays that way, so what a plugin prints, whenever it is flushed,
misses the wire. The configuration is read and plugins are imported after the handshake has
been answered, which is what a client waits for when it starts.
"""

import asyncio
import gc
import logging
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

from gateway_core import logs
from gateway_core.config.switches import is_strict
from gateway_core.errors import ConfigError
from gateway_core.servers.mcp.first_use import GatewayOnFirstUse
from gateway_core.servers.mcp.lean import import_for_stdio

_log: Final = logging.getLogger("s1gw.mcp")
_STOPPING: Final = (signal.SIGTERM, signal.SIGINT)


def run(config_path: Path | None = None) -> None:
    """Serve until the client closes stdin or a signal ends it; see ``servers.mcp.serve``."""
    import_for_stdio()
    logs.setup()
    asyncio.run(_serve(config_path))


async def _serve(config_path: Path | None) -> None:
    from anyio import CancelScope
    from mcp.server.stdio import stdio_server

    from gateway_core.servers.mcp.server import build_server

    gc.freeze()
    gc.enable()
    try:
        async with stdio_server() as (reading, writing), GatewayOnFirstUse(config_path) as gateway:
            if is_strict(os.environ):
                await _opened_or_exit(gateway)
            server = build_server(gateway)
            server.middleware.append(gateway.warmed_up_by_the_second_message)
            options = server.create_initialization_options()
            serving = asyncio.create_task(server.run(reading, writing, options))
            if await _stopped(serving):
                with CancelScope(shield=True):
                    await gateway.aclose()
                _leave(0)
    finally:
        # What sits in a buffer now is flushed at exit, after the last answer.
        os.dup2(2, 1)


async def _opened_or_exit(gateway: GatewayOnFirstUse) -> None:
    """Open the gateway now; end the process if its faults are to be fatal."""
    try:
        await gateway.opened()
    except ConfigError as error:
        for fault in error.faults:
            _log.error("%s", fault)
        _leave(1)


def _leave(code: int) -> NoReturn:
    """End the process although a thread of the package reads stdin and cannot be interrupted."""
    os._exit(code)


async def _stopped(serving: "asyncio.Task[None]") -> bool:
    """Wait for the end of ``serving``; say whether it came otherwise than by the end of stdin."""
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    # Windows has no signals for an event loop; there, the client closes stdin.
    with suppress(NotImplementedError):
        for number in _STOPPING:
            loop.add_signal_handler(number, stopped.set)
    waiting = asyncio.create_task(stopped.wait())
    try:
        await asyncio.wait((serving, waiting), return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        return True  # the package could not write: the client reads no more
    waiting.cancel()
    if not stopped.is_set():
        await serving
        return False
    serving.cancel()
    with suppress(asyncio.CancelledError):
        await serving
    return True
