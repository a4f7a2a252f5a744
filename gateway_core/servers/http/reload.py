"""Reading the configuration again while the server runs."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Protocol

from gateway_core.errors import ConfigError, GatewayError
from gateway_core.servers.http.checked import Checked, Options

_log: Final = logging.getLogger("s1gw.http")


class Served(Protocol):
    """What serves a configuration: this process, or the workers of a supervisor."""

    async def replace(self, checked: Checked) -> None:
        """Serve ``checked`` from now on, or go on as before.

        Raises:
            GatewayError: it cannot be served; what was served before still is.
        """
        ...

    def note_faults(self, faults: Sequence[str]) -> None:
        """Have health tell why the last reload was refused; nothing if it was not."""
        ...


class Reloads:
    """Reloads, one after the other; what is asked for during one is done once, after it.

    Attributes:
        checked: the configuration that is served.
        files: what is looked at for changes.
    """

    def __init__(self, options: Options, checked: Checked, served: Served) -> None:
        """Begin with what is served.

        Args:
            options: how the configuration is read.
            checked: what was read.
            served: what serves it.
        """
        self.checked = checked
        self.files: frozenset[Path] = options.files(checked.loaded)
        self.begun: Callable[[], object] = lambda: None
        self.done: Callable[[], object] = lambda: None
        self._options = options
        self._served = served
        self._wanted = ""
        self._running: asyncio.Task[None] | None = None

    def ask(self, reason: str) -> None:
        """Reload soon; ``reason`` is for the log."""
        self._wanted = reason
        if self._running is None:
            self._running = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Reload no more, and give up what is under way."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait((self._running,))

    async def _run(self) -> None:
        try:
            while reason := self._wanted:
                self._wanted = ""
                self.begun()
                await self._reload(reason)
                self.done()
        finally:
            self._running = None

    async def _reload(self, reason: str) -> None:
        try:
            fixed = await self._replace()
        except GatewayError as error:
            faults = error.faults if isinstance(error, ConfigError) else (str(error),)
            for fault in faults:
                _log.error("reload refused (%s): %s", reason, fault)
            _log.error("going on with the configuration that was read before")
            self._served.note_faults(faults)
            return
        _log.info("reloaded (%s)", reason)
        if fixed:
            names = ", ".join(fixed)
            _log.warning("from the next start only: %s; the rest of the file is applied", names)

    async def _replace(self) -> Sequence[str]:
        loaded = await asyncio.to_thread(self._options.load)
        # Those of a configuration that is refused, too: they may be what is going to be mended.
        self.files = self._options.files(loaded) | self._options.files(self.checked.loaded)
        checked, fixed = await asyncio.to_thread(self.checked.again, self._options, loaded)
        await self._served.replace(checked)
        self.checked = checked
        self.files = self._options.files(loaded)
        return fixed
