"""Seeing that a file has changed: the system says so, and a look every few seconds is the net."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from gateway_core.config.model import HttpConfig
from gateway_core.errors import ConfigError

_log: Final = logging.getLogger("s1gw.http")
LOOK_S: Final = 5.0
"""How long a change may stay unseen where the system does not tell of it, in seconds."""
_SETTLE_MS: Final = 200
_Stamp = tuple[int, int, int] | None


def check_watching(http: HttpConfig) -> None:
    """Raise ``ConfigError`` when files are to be watched, and what watches is not installed."""
    if http.reload and find_spec("watchfiles") is None:
        raise ConfigError("http.reload: needs pip install 's1gw[reload]'")


async def watch(files: Callable[[], Iterable[Path]], changed: Callable[[str], object]) -> None:
    """Call ``changed``, with words for the log, whenever a file is another than before.

    Watched are the folders: files are replaced as often as written to, and where Kubernetes
    mounts them, it is a link beside them that changes.

    Args:
        files: gives the files, which may become others.
        changed: called after each change.
    """
    seen = _stamps(files())
    while True:
        folders = _folders(files())
        async with aclosing(_events(folders)) as events:
            async for _ in events:
                now = await asyncio.to_thread(_stamps, files())
                new = [path for path in now if path in seen and now[path] != seen[path]]
                seen = now
                if new:
                    changed(_told(new))
                if _folders(files()) != folders:
                    break


def _told(paths: list[Path]) -> str:
    names = ", ".join(sorted(path.name for path in paths))
    return f"{names} has changed" if len(paths) == 1 else f"{names} have changed"


def _stamps(paths: Iterable[Path]) -> Mapping[Path, _Stamp]:
    """Return what differs after every change of a file."""
    return {path: _stamp(path) for path in paths}


def _stamp(path: Path) -> _Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _folders(paths: Iterable[Path]) -> frozenset[Path]:
    """Return the folders of the files, and of the files that they are links to."""
    places = [place for path in paths for place in (path.absolute(), path.resolve())]
    return frozenset(place.parent for place in places if place.parent.is_dir())


async def _events(folders: frozenset[Path]) -> AsyncGenerator[object]:
    """Yield whenever something has happened in one of the folders, or it is time for a look."""
    # Whoever does not watch does not pay for it.
    from watchfiles import awatch

    # What has happened before the system was asked to tell.
    yield None
    wait_ms = int(LOOK_S * 1000)
    try:
        async for found in awatch(
            *folders,
            recursive=False,
            debounce=_SETTLE_MS,
            rust_timeout=wait_ms,
            yield_on_timeout=True,
            watch_filter=None,
            raise_interrupt=False,
        ):
            yield found
    except OSError as error:
        _log.warning("files are looked at every %g s: %s", LOOK_S, error.strerror or error)
    while True:
        await asyncio.sleep(LOOK_S)
        yield None
