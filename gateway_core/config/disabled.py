"""Which plugins are disabled, read without the cost of reading everything else."""

import os
from collections.abc import Mapping
from typing import Any, Final

from gateway_core.config.file import is_explicit, read_table
from gateway_core.config.paths import DISABLED_PLUGINS, config_path_to_read
from gateway_core.user_paths import expanded

_RESEMBLING: Final = "S1GW_PLUGINS_"
# A table of another name may be a misspelt one of these; then the whole is read.
_TABLES: Final = frozenset(
    {"decide", "providers", "middleware", "plugins", "http", "orgs", "log", "decision_log"}
)


def disabled_plugins(
    path: str | os.PathLike[str] | None = None, environ: Mapping[str, str] = os.environ
) -> tuple[str, ...]:
    """Return what ``load_config`` has in ``plugins.disabled``, faster where all is well.

    Args:
        path: the configuration file; the usual place when absent.
        environ: the environment variables, which go over the file.
    """
    if not any(name == DISABLED_PLUGINS or name.startswith(_RESEMBLING) for name in environ):
        must_exist = is_explicit(path, environ)
        chosen = config_path_to_read(environ) if path is None else expanded(path)
        table, fault = read_table(chosen, must_exist=must_exist)
        names = None if fault else _plainly(table or {})
        if names is not None:
            return names
    from gateway_core.config.load import load_config

    return load_config(path, environ).config.plugins.disabled


def _plainly(table: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the disabled names if the file leaves no doubt about them."""
    plugins = table.get("plugins", {})
    if table.keys() - _TABLES or not isinstance(plugins, Mapping) or plugins.keys() - {"disabled"}:
        return None
    names = plugins.get("disabled", [])
    if not isinstance(names, list) or not all(isinstance(n, str) and n.strip() for n in names):
        return None
    return tuple(names) if len(set(names)) == len(names) else None
