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
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NoReturn

from gateway_core import logs
from gateway_core.config.switches import is_strict
from gateway_core.errors import ConfigError
from gateway_core.servers.mcp.descriptors import take_stdin, take_stdout
from gateway_core.servers.mcp.first_use import GatewayOnFirstUse
from gateway_core.servers.mcp.lean import import_for_stdio
from gateway_core.servers.mcp.lines import Lines, Splitter

_log: Final = logging.getLogger("s1gw.mcp")
_STOPPING: Final = (signal.SIGTERM, signal.SIGINT)
_LAST_WORDS_S: Final = 1.0
"""How long calls that are cancelled, and what is left to write, may take after a signal."""
_CLOSING_S: Final = 5.0
_AT_THE_LATEST_S: Final = 10.0
"""When a signal ends the process whatever it is doing."""


def run(config_path: Path | None = None) -> None:
    """Serve until the client closes stdin or a signal ends it; see ``servers.mcp.serve``."""
    import_for_stdio()
    logs.setup()
    asyncio.run(_serve(config_path))


async def _serve(config_path: Path | None) -> None:
    from gateway_core.servers.mcp.connection import MAX_LINE, McpConnection
    from gateway_core.servers.mcp.messages import EDGE
    from gateway_core.servers.mcp.output import Output
    from gateway_core.servers.mcp.server import build_server

    gc.freeze()
    gc.enable()
    output = Output(take_stdout())
    lines = Lines(take_stdin(), Splitter(MAX_LINE, EDGE))
    async with GatewayOnFirstUse(config_path) as gateway:
        if is_strict(os.environ):
            await _opened_or_exit(gateway)
        connection = McpConnection(lines, output)
        server = build_server(gateway)
        server.middleware.append(gateway.warmed_up_by_the_second_message)
        options = server.create_initialization_options()
        serving = asyncio.gather(
            server.run(connection.reading, connection.writing, options),
            connection.run(gateway.longest_call_s),
        )
        if await _ended_early(serving, output):
            await _left(serving, gateway, output)
        await _bounded(output.flushed(), gateway.longest_call_s())


async def _opened_or_exit(gateway: GatewayOnFirstUse) -> None:
    """Open the gateway now; end the process if its faults are to be fatal."""
    try:
        await gateway.opened()
    except ConfigError as error:
        for fault in error.faults:
            _log.error("%s", fault)
        _leave(1)


async def _ended_early(serving: "asyncio.Future[Any]", output: Any) -> bool:
    """Wait for the end of ``serving``; say whether a signal or a client that left came first."""
    stopped = _stopped_by_a_signal()
    ends = [asyncio.ensure_future(event.wait()) for event in (stopped, output.broken)]
    done, _ = await asyncio.wait((serving, *ends), return_when=asyncio.FIRST_COMPLETED)
    for end in ends:
        end.cancel()
    if serving not in done:
        return True
    serving.result()
    return False


def _stopped_by_a_signal() -> asyncio.Event:
    """Return an event that a signal sets; it ends the process too if nothing else does."""
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()

    def stop(*_: object) -> None:
        # A plugin may be blocking the loop, and a client the writing.
        timer = threading.Timer(_AT_THE_LATEST_S, os._exit, (0,))
        timer.daemon = True
        timer.start()
        loop.call_soon_threadsafe(stopped.set)

    for number in _STOPPING:
        signal.signal(number, stop)
    return stopped


async def _left(
    serving: "asyncio.Future[Any]", gateway: GatewayOnFirstUse, output: Any
) -> NoReturn:
    """Cancel what is under way, say so to whoever waits, close the gateway, and end."""
    serving.cancel()
    await asyncio.wait((serving,), timeout=2 * _LAST_WORDS_S)
    await _bounded(output.flushed(), _LAST_WORDS_S)
    await _bounded(gateway.aclose(), _CLOSING_S)
    _leave(0)


async def _bounded(work: Any, limit_s: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(work, limit_s)


def _leave(code: int) -> NoReturn:
    """End the process although a thread of a plugin may be at work that cannot be interrupted."""
    os._exit(code)
