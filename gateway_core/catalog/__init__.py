"""The installed plugins: found by metadata alone, imported one by one on first use."""

from gateway_core.catalog.catalog import Catalog
from gateway_core.catalog.refs import PluginKind, PluginRef, PluginState

__all__ = ["Catalog", "PluginKind", "PluginRef", "PluginState"]
