"""The configuration: from a TOML file and the environment to values and every fault."""

import os
from collections.abc import Mapping

from gateway_core.config.assemble import Assembly
from gateway_core.config.file import is_explicit, read_table
from gateway_core.config.loaded import Loaded
from gateway_core.config.paths import config_path_to_read
from gateway_core.structure import Sources
from gateway_core.user_paths import expanded

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
    chosen = config_path_to_read(environ) if path is None else expanded(path)
    table, fault = read_table(chosen, must_exist=is_explicit(path, environ))
    sources = Sources(environ=environ, folder=chosen.parent, unread=not secrets, files={})
    assembly = Assembly(sources=sources)
    if fault is not None:
        return assembly.without_file(fault)
    return assembly.of(table or {}, source=None if table is None else chosen)
