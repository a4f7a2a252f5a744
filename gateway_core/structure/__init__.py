"""Tables of a configuration into attrs classes, with every fault named by its path."""

from collections.abc import Mapping
from typing import Any, TypeVar

from gateway_core.errors import ConfigError, PluginUnavailable
from gateway_core.structure.converter import attempt
from gateway_core.structure.faults import Fault
from gateway_core.structure.secrets import PROCESS_SOURCES, Sources

__all__ = ["PROCESS_SOURCES", "Fault", "Sources", "attempt", "plugin_settings", "structure"]

T = TypeVar("T")


def structure(
    cls: type[T], table: Mapping[str, Any], path: str, sources: Sources = PROCESS_SOURCES
) -> T:
    """Build a ``cls`` from ``table``.

    Args:
        cls: an attrs class; its annotations and validators say what each key takes.
        table: what a TOML file said.
        path: where the table stands in the file, such as ``providers.laya.settings``.
        sources: where ``{ env = … }`` and ``{ file = … }`` are read.

    Raises:
        ConfigError: one fault per wrong, missing or unknown key.
    """
    found, faults = attempt(cls, table, sources)
    if found is None:
        raise ConfigError(*(fault.at(path) for fault in faults))
    return found


def plugin_settings(
    plugin_class: type, table: Mapping[str, Any], path: str, sources: Sources = PROCESS_SOURCES
) -> Any:
    """Build a plugin's own settings: its ``settings_class``, or None if it has no such class.

    Args:
        plugin_class: what an entry point names.
        table: the plugin's own keys.
        path: where they stand in the file.
        sources: where credentials among them are looked up.

    Raises:
        ConfigError: one fault per wrong, missing or unknown key.
        PluginUnavailable: there are keys, and the plugin takes none.
    """
    settings_class = getattr(plugin_class, "settings_class", None)
    if settings_class is not None:
        return structure(settings_class, table, path, sources)
    if table:
        raise PluginUnavailable(f"{path}: {plugin_class.__name__} takes no settings")
    return None
