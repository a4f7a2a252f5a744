"""From the configuration to the observers that log decisions."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from gateway_core.config.model import DecisionLogConfig
from gateway_core.decide.chain import Chain
from gateway_core.decide.observe import Observer
from gateway_core.decisionlog.observer import LogObserver
from gateway_core.decisionlog.shadow import Shadow
from gateway_core.decisionlog.writer import DecisionLog

FILE_NAME: Final = "decisions.sqlite3"
_MEBIBYTE: Final = 1 << 20


def log_path(config: DecisionLogConfig, state: Path) -> Path:
    """Return the log's file: the configured one, or the one in the gateway's state."""
    return config.path or state / FILE_NAME


@asynccontextmanager
async def watching(
    config: DecisionLogConfig, state: Path, chain_of: Callable[[str], Chain]
) -> AsyncIterator[tuple[Observer, ...]]:
    """Open the decision log, if it is switched on, and close it when the block ends.

    Args:
        config: the table ``[decision_log]``.
        state: the gateway's own folder.
        chain_of: gives the chain of one that asks a provider, by its name.

    Yields:
        The observers that log decisions and ask shadows; none when the log is off.

    Raises:
        ConfigError: the log's file cannot be used.
    """
    if not config.enabled:
        yield ()
        return
    log = DecisionLog(
        log_path(config, state),
        content=config.content,
        max_bytes=config.max_mb * _MEBIBYTE,
        max_age_days=config.max_age_days,
    )
    shadow = Shadow(chains={name: chain_of(name) for name in config.shadow}, log=log)
    try:
        yield (LogObserver(log), shadow)
    finally:
        await shadow.aclose()
        await asyncio.to_thread(log.close)
