"""From the configuration to the observers that log decisions."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from gateway_core.config.model import MEBIBYTE, DecisionLogConfig
from gateway_core.decide.chain import Chain
from gateway_core.decide.observe import Observer

if TYPE_CHECKING:
    from gateway_core.decisionlog.shadow import Shadow
    from gateway_core.decisionlog.writer import DecisionLog

FILE_NAME: Final = "decisions.sqlite3"


def log_path(config: DecisionLogConfig, state: Path) -> Path:
    """Return the log's file: the configured one, or the one in the gateway's state."""
    return config.path or state / FILE_NAME


@attrs.frozen(kw_only=True, eq=False)
class Watch:
    """Who watches the decisions of one gateway.

    Attributes:
        observers: to be told of every decision; none when the log is off.
        problems: says why decisions are not logged now although they should be, and how many
            were not.
    """

    observers: tuple[Observer, ...] = ()
    problems: Callable[[], Sequence[str]] = tuple


@asynccontextmanager
async def watching(
    config: DecisionLogConfig, state: Path, chain_of: Callable[[str], Chain]
) -> AsyncIterator[Watch]:
    """Open the decision log, if it is switched on, and close it when the block ends.

    A log that cannot be used is a problem that is told, and no reason not to decide; decisions
    wait for it, and it is tried again.

    Args:
        config: the table ``[decision_log]``.
        state: the gateway's own folder.
        chain_of: gives the chain of one that asks a provider, by its name.

    Yields:
        The observers that log decisions and ask shadows.
    """
    if not config.enabled:
        needless = ("decision_log.shadow needs decision_log.enabled = true",)
        yield Watch(problems=lambda: needless if config.shadow else ())
        return
    from gateway_core.decisionlog.observer import LogObserver
    from gateway_core.decisionlog.shadow import Shadow

    # In a thread: another program may hold the lock of the file.
    log = await asyncio.to_thread(_opened, config, state)
    shadow = Shadow(chains={name: chain_of(name) for name in config.shadow}, log=log)
    try:
        yield Watch(
            observers=(LogObserver(log), shadow), problems=lambda: list(_problems(log, shadow))
        )
    finally:
        await shadow.aclose()
        await asyncio.to_thread(log.close)


def _problems(log: "DecisionLog", shadow: "Shadow") -> Iterator[str]:
    if log.problem is not None:
        yield f"{log.problem}; decisions wait until they can be logged"
    if lost := log.losses.total:
        yield f"decision_log: {lost} entries were lost since the start; the log says why"
    if skipped := shadow.skipped.total:
        yield f"decision_log.shadow: {skipped} were not asked since the start: too many at a time"


def _opened(config: DecisionLogConfig, state: Path) -> "DecisionLog":
    # SQLite is loaded when there is a log to keep.
    from gateway_core.decisionlog.writer import DecisionLog

    return DecisionLog(
        log_path(config, state),
        content=config.content,
        max_bytes=config.max_mb * MEBIBYTE,
        max_age_days=config.max_age_days,
    )
