"""The configuration: from a TOML file and the environment to values and every fault."""

import os
from collections.abc import Mapping

from gateway_core.config.assemble import Assembly
from gateway_core.config.file import find_file
from gateway_core.config.loaded import Loaded
from gateway_core.structure import Sources

__all__ = ["Loaded", "load_config"]


def load_config(
    path: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] = os.environ,
    *,
    secrets: bool = True,
) -> Loaded:
    """Read the configuration; never raises for a broken one.

    Args:
        path: the file, which may begin with ``~``; without it ``S1GW_CONFIG``, or the
            platform's own place, where a file need not exist.
        environ: the environment variables, which go over the file.
        secrets: whether credentials are read; without, only their places are checked, and the
            configuration is of no use but to be checked itself.
    """
    file = find_file(path, environ)
    folder = file.path.parent
    sources = Sources(environ=environ, folder=folder, unread=not secrets, files={})
    assembly = Assembly(sources=sources)
    if file.fault is not None:
        return assembly.without_file(file.fault)
    return assembly.of(file.table or {}, source=None if file.table is None else file.path)
