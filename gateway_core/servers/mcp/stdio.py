"""``s1gw serve --mcp``: the tools over stdin and stdout.

stdout carries the protocol and nothing else: file descriptor 1 leads to stderr before the
first plugin is imported and stays that way, so what a plugin prints, whenever it is flushed,
misses the wire. The configuration is read and plugins are imported after the handshake has
been answered, which is what a client waits for when it starts.
"""

import asyncio
import gc
import os
import signal
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway_core import logs
from gateway_core.servers.mcp.lean import import_for_stdio

if TYPE_CHECKING:
    from gateway_core.gateway import Gateway

_STOPPING = (signal.SIGTERM, signal.SIGINT)


def run(config_path: Path | None = None) -> None:
    """Serve until the client closes stdin or a signal ends it; see ``servers.mcp.serve``."""
    import_for_stdio()
    logs.setup()
    asyncio.run(_serve(config_path))


async def _serve(config_path: Path | None) -> None:
    from mcp.server.stdio import stdio_server

    from gateway_core.servers.mcp.server import build_server

    gc.freeze()
    gc.enable()
    try:
        async with stdio_server() as (reading, writing), GatewayOnFirstUse(config_path) as gateway:
            server = build_server(gateway)
            server.middleware.append(gateway.warmed_up_by_the_second_message)
            options = server.create_initialization_options()
            serving = asyncio.create_task(server.run(reading, writing, options))
            if await _stopped(serving):
                await gateway.aclose()
                # A thread of the package still reads stdin and cannot be interrupted.
                os._exit(0)
    finally:
        # What sits in a buffer now is flushed at exit, after the last answer.
        os.dup2(2, 1)


async def _stopped(serving: "asyncio.Task[None]") -> bool:
    """Wait for the end of ``serving``; say whether a signal brought it about."""
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    # Windows has no signals for an event loop; there, the client closes stdin.
    with suppress(NotImplementedError):
        for number in _STOPPING:
            loop.add_signal_handler(number, stopped.set)
    waiting = asyncio.create_task(stopped.wait())
    await asyncio.wait((serving, waiting), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if not stopped.is_set():
        await serving
        return False
    serving.cancel()
    with suppress(asyncio.CancelledError):
        await serving
    return True


class GatewayOnFirstUse:
    """The gateway, imported and opened when it is first needed, and then kept."""

    def __init__(self, config_path: Path | None) -> None:
        self._config_path = config_path
        self._opening: asyncio.Task[Gateway] | None = None
        self._stack = AsyncExitStack()
        self._messages = 0

    async def __aenter__(self) -> "GatewayOnFirstUse":
        if os.environ.get("S1GW_STRICT_PLUGINS"):
            await self._gateway()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close what was opened."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait((self._opening,))
        await self._stack.aclose()

    async def warmed_up_by_the_second_message(self, ctx: Any, call_next: Any) -> Any:
        """Open the gateway in the background once the client has its first answer."""
        self._messages += 1
        if self._messages > 1:
            self._opened()
        return await call_next(ctx)

    async def decide(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Ask for one decision."""
        return await (await self._gateway()).decide(request)

    async def health(self) -> dict[str, Any]:
        """Probe the providers of the chain."""
        return await (await self._gateway()).health()

    async def capabilities(self) -> dict[str, Any]:
        """Say what can be asked."""
        return await (await self._gateway()).capabilities()

    async def _gateway(self) -> "Gateway":
        # Shielded: a call that is cancelled must not take the gateway from the others.
        return await asyncio.shield(self._opened())

    def _opened(self) -> "asyncio.Task[Gateway]":
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        return self._opening

    async def _open(self) -> "Gateway":
        # In a thread, so that requests which need no gateway are answered meanwhile.
        module = await asyncio.to_thread(import_module, "gateway_core.gateway")
        opening = module.Gateway.open(self._config_path)
        gateway: Gateway = await self._stack.enter_async_context(opening)
        logs.setup(gateway.config.log.format, gateway.config.log.level)
        return gateway
