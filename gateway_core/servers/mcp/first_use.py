"""The gateway behind stdio: opened when it is first needed, or while nobody waits for it."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import AsyncExitStack
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gateway_core import logs

if TYPE_CHECKING:
    from gateway_core.gateway import Gateway

_log: Final = logging.getLogger("s1gw.mcp")
_DEFAULT_CALL_S: Final = 25.0
_MARGIN_S: Final = 5.0


class GatewayOnFirstUse:
    """The gateway, imported and opened when it is first needed, and then kept.

    An attempt to open it that fails is told to whoever waits for it, and is not kept: the next
    call tries again, for the cause may have passed.
    """

    def __init__(self, config_path: Path | None) -> None:
        self._config_path = config_path
        self._opening: asyncio.Task[Gateway] | None = None
        self._stack = AsyncExitStack()
        self._messages = 0

    async def __aenter__(self) -> "GatewayOnFirstUse":
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
            self._start_opening()
        return await call_next(ctx)

    async def decide(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Ask for one decision."""
        return await (await self.opened()).decide(request)

    async def health(self) -> dict[str, Any]:
        """Probe the providers of the chain."""
        return await (await self.opened()).health()

    async def capabilities(self) -> dict[str, Any]:
        """Say what can be asked."""
        return await (await self.opened()).capabilities()

    def longest_call_s(self) -> float:
        """Return how long a call that is under way now may still take, in seconds."""
        opening = self._opening
        if opening is None or not opening.done() or _has_failed(opening):
            return _DEFAULT_CALL_S + _MARGIN_S
        decide = opening.result().config.decide
        return max(decide.deadline_s, decide.timeout_s) + _MARGIN_S

    async def opened(self) -> "Gateway":
        """Return the gateway, once it is open.

        Raises:
            ConfigError: as ``Gateway.open`` does.
            OSError: something that it needs cannot be opened now.
        """
        try:
            # Shielded: a call that is cancelled must not take the gateway from the others.
            return await asyncio.shield(self._start_opening())
        except asyncio.CancelledError:
            _log.info("cancelled while the gateway was being opened")
            raise

    def _start_opening(self) -> "asyncio.Task[Gateway]":
        if self._opening is None or _has_failed(self._opening):
            self._opening = asyncio.create_task(self._open())
            self._opening.add_done_callback(_note_failure)
        return self._opening

    async def _open(self) -> "Gateway":
        # In a thread, so that requests which need no gateway are answered meanwhile.
        module = await asyncio.to_thread(import_module, "gateway_core.gateway")
        opening = module.Gateway.open(self._config_path)
        gateway: Gateway = await self._stack.enter_async_context(opening)
        logs.setup(gateway.config.log.format, gateway.config.log.level)
        return gateway


def _has_failed(opening: "asyncio.Task[Gateway]") -> bool:
    return opening.done() and (opening.cancelled() or opening.exception() is not None)


def _note_failure(opening: "asyncio.Task[Gateway]") -> None:
    # It may have been opened while nobody was waiting, and then nobody else would say so.
    if not opening.cancelled() and (error := opening.exception()) is not None:
        _log.error("the gateway could not be opened: %s", type(error).__name__)
