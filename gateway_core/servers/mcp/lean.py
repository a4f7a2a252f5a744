"""Importing ``mcp``'s low-level server for stdio without what stdio never uses.

``import mcp.server.lowlevel`` runs the package's ``__init__`` files, which import its client
and its other server, and the module itself imports starlette, uvicorn, OAuth and event streams
for its HTTP side; then pydantic builds some 500 validators of which one connection uses about
twenty. Together that is half of the start-up time. So, while the module is imported:

* the two packages whose ``__init__`` is not needed stand in ``sys.modules`` unexecuted, and
  run it when somebody first asks them for a name;
* the modules of the HTTP side are placeholders, taken away again afterwards;
* pydantic's own ``defer_build`` is on, so that a validator is built when first used;
* the garbage collector waits, since nothing that an import makes is garbage.

Nothing of the protocol is replaced. If the installed ``mcp`` is laid out otherwise, it is
imported as usual, which only takes longer. A process that serves HTTP imports it as usual too.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

_LAZY: Final = ("mcp", "mcp.server")
_HTTP_ONLY: Final = (
    "starlette",
    "starlette.applications",
    "starlette.middleware",
    "starlette.middleware.authentication",
    "starlette.routing",
    "mcp.server.auth",
    "mcp.server.auth.middleware",
    "mcp.server.auth.middleware.auth_context",
    "mcp.server.auth.middleware.bearer_auth",
    "mcp.server.auth.provider",
    "mcp.server.auth.routes",
    "mcp.server.auth.settings",
    "mcp.server.streamable_http",
    "mcp.server.streamable_http_manager",
    "mcp.server.transport_security",
)
_WANTED: Final = ("mcp.server.lowlevel.server", "mcp.server.stdio")


class _LazyPackage(ModuleType):
    """A package whose ``__init__`` runs when it is first asked for a name it does not have."""

    def __getattr__(self, name: str) -> Any:
        self.__class__ = ModuleType  # type: ignore[assignment]
        if self.__spec__ is not None and self.__spec__.loader is not None:
            self.__spec__.loader.exec_module(self)
        return getattr(self, name)


class _Placeholder(ModuleType):
    """A module of which any name can be imported, and none of them used."""

    __path__: list[str] = []  # noqa: RUF012 - the import system wants a plain attribute

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _unusable


def _unusable(*_: object, **__: object) -> None:
    raise RuntimeError("this process imported mcp for stdio alone; it cannot serve HTTP")


def import_for_stdio() -> None:
    """Import what serving MCP over stdio takes, leanly if possible."""
    if "mcp" in sys.modules or "starlette" in sys.modules:
        return
    before = set(sys.modules)
    try:
        with _prepared():
            for name in _WANTED:
                import_module(name)
    except (ImportError, AttributeError, TypeError):
        # Another layout than the known one: forget the attempt and import it as usual.
        for name in set(sys.modules) - before:
            if name.partition(".")[0] in ("mcp", "mcp_types"):
                del sys.modules[name]


@contextmanager
def _prepared() -> Iterator[None]:
    from pydantic import BaseModel

    collecting = gc.isenabled()
    usual = BaseModel.model_config
    gc.disable()
    BaseModel.model_config = {**usual, "defer_build": True}
    try:
        for name in _LAZY:
            sys.modules[name] = _lazy_package(name)
        for name in _HTTP_ONLY:
            sys.modules[name] = _Placeholder(name)
        yield
    finally:
        for name in _HTTP_ONLY:
            sys.modules.pop(name, None)
        BaseModel.model_config = usual
        if collecting:
            gc.enable()


def _lazy_package(name: str) -> ModuleType:
    spec = find_spec(name)
    if spec is None or spec.submodule_search_locations is None:
        raise ImportError(f"{name} is not a package")
    package = _LazyPackage(name)
    package.__spec__ = spec
    package.__loader__ = spec.loader
    package.__file__ = spec.origin
    package.__package__ = name
    package.__path__ = spec.submodule_search_locations
    return package
