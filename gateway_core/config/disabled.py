"""Which plugins are disabled, read without the cost of reading everything else."""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final

from gateway_core.config.file import find_file
from gateway_core.config.paths import DISABLED_PLUGINS

_RESEMBLING: Final = "S1GW_PLUGINS_"
_PLUGINS: Final = "plugins"


def disabled_plugins(
    path: str | os.PathLike[str] | None = None, environ: Mapping[str, str] = os.environ
) -> tuple[str, ...]:
    """Return what ``load_config`` has in ``plugins.disabled``, faster where all is well.

    Args:
        path: the configuration file; the usual place when absent.
        environ: the environment variables, which go over the file.
    """
    if not any(name == DISABLED_PLUGINS or name.startswith(_RESEMBLING) for name in environ):
        found = find_file(path, environ)
        names = None if found.fault else _plainly(found.table or {})
        if names is not None:
            return names
    # Light commands cost less without what reads the whole.
    from gateway_core.config.load import load_config

    return load_config(path, environ).config.plugins.disabled


def _plainly(table: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the disabled names if the file leaves no doubt about them."""
    plugins = table.get(_PLUGINS, {})
    misspelt = any(key != _PLUGINS and get_close_matches(key, (_PLUGINS,)) for key in table)
    if misspelt or not isinstance(plugins, Mapping) or plugins.keys() - {"disabled"}:
        return None
    names = plugins.get("disabled", [])
    if not isinstance(names, list) or not all(isinstance(n, str) and n.strip() for n in names):
        return None
    return tuple(names) if len(set(names)) == len(names) else None
