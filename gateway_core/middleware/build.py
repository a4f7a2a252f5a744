"""From the configuration to middleware that is ready to be passed through."""

import inspect
from collections.abc import Sequence
from typing import Any

import attrs

from gateway_core.catalog import Catalog, PluginKind
from gateway_core.config.loaded import Loaded
from gateway_core.config.model import UNREADABLE, MiddlewareConfig
from gateway_core.errors import ConfigError, PluginUnavailable
from gateway_core.hooks import plugin_build_guard
from gateway_core.middleware.layers import Layer
from gateway_core.middleware.spec import Middleware, MiddlewareContext
from gateway_core.passing import is_passing
from gateway_core.structure import plugin_settings


@attrs.frozen(kw_only=True, eq=False)
class MiddlewareSlot:
    """One name in ``decide.middleware``.

    Attributes:
        name: that name.
        layer: the middleware, or the fault that closes the gateway.
        detail: its distribution and version, or the fault in words.
    """

    name: str
    layer: Layer | ConfigError
    detail: str

    @property
    def faults(self) -> Sequence[str]:
        """What keeps every call from passing; empty when calls can pass."""
        return () if isinstance(self.layer, Layer) else self.layer.faults or (self.detail,)

    def discreet(self) -> "MiddlewareSlot":
        """Return the slot as those see it who are not the operator: without the reasons."""
        if not self.faults:
            return attrs.evolve(self, detail="")
        fault = ConfigError(f"middleware {self.name!r} cannot be used; the operator knows why")
        return attrs.evolve(self, layer=fault, detail=str(fault))


def build_middleware(loaded: Loaded, catalog: Catalog) -> tuple[MiddlewareSlot, ...]:
    """Build new instances of what ``decide.middleware`` names, in that order.

    Nothing else is imported. A name whose middleware cannot be used keeps its slot, with the
    fault in it.
    """
    return tuple(_slot(name, loaded, catalog) for name in loaded.config.decide.middleware)


def _slot(name: str, loaded: Loaded, catalog: Catalog) -> MiddlewareSlot:
    unread = name == UNREADABLE or loaded.broken & {"middleware", f"middleware.{name}"}
    # Somebody may have written the very name that stands for a list that cannot be read.
    if unread and loaded.faults:
        layer = ConfigError(*loaded.faults)
        return MiddlewareSlot(name=name, layer=layer, detail="its configuration has faults")
    try:
        middleware = _built(name, loaded, catalog)
    except ConfigError as error:
        if is_passing(error):
            raise
        fault = error.with_path_prefix(f"middleware.{name}")
        return MiddlewareSlot(name=name, layer=fault, detail=str(fault))
    origin = catalog.require(name, PluginKind.MIDDLEWARE).origin
    return MiddlewareSlot(name=name, layer=Layer(name=name, middleware=middleware), detail=origin)


def _built(name: str, loaded: Loaded, catalog: Catalog) -> Middleware:
    path = f"middleware.{name}"
    plugin_class = catalog.load(name, PluginKind.MIDDLEWARE)
    table = loaded.config.middleware.get(name, MiddlewareConfig()).settings
    settings = plugin_settings(plugin_class, table, f"{path}.settings", loaded.sources)
    context: MiddlewareContext[Any] = MiddlewareContext(name=name, settings=settings)
    with plugin_build_guard(plugin_class.__name__):
        middleware: Middleware = plugin_class(context)
    if fault := _fault(middleware):
        raise PluginUnavailable(fault)
    return middleware


def _fault(middleware: object) -> str | None:
    decide = getattr(middleware, "decide", None)
    if decide is None or not inspect.iscoroutinefunction(decide):
        return "it has no 'decide' that is async def"
    try:
        inspect.signature(decide).bind(None, None)
    except TypeError:
        return "'decide' must take the request and proceed, in that order"
    return None
