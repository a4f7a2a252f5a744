"""Importing ``mcp``'s low-level server for stdio without what stdio never uses.

``import mcp.server.lowlevel`` runs the package's ``__init__`` files, which import its client
and its other server, and the module itself imports starlette, uvicorn, OAuth and event streams
for its HTTP side; then pydantic builds some 500 validators of which one connection uses about
twenty. Together that is half of the start-up time. So, while the module is imported:

* the two packages whose ``__init__`` is not needed stand in ``sys.modules`` unexecuted, and
  run it when somebody first asks them for a name;
* the modules of the HTTP side are placeholders, taken away again afterwards;
* pydantic's own ``defer_build`` is on, so that a validator is built when first used.

Nothing of the protocol is replaced, and whatever is changed meanwhile is put back. It is done
for the releases of ``mcp`` alone that the tests have tried. Any other is imported as usual, and
so is one that turns out to be laid out otherwise: that takes longer, and is no fault. A process
that serves HTTP imports it as usual too.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final, NoReturn

import pydantic
from pydantic import BaseModel, ConfigDict, TypeAdapter

TRIED: Final = frozenset({"2.3.0"})
"""The releases of ``mcp`` that are known to work this way."""
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
_WANTED: Final = ("mcp.server.lowlevel.server", "mcp.shared.message")


def import_for_stdio() -> bool:
    """Import what serving MCP over stdio takes.

    Returns:
        Whether the lean way worked; if not, the usual import will find everything untouched.
    """
    if _installed() not in TRIED:
        return False
    if any(name in sys.modules for name in ("mcp", "mcp_types", "starlette")):
        return False
    try:
        with _prepared():
            for name in _WANTED:
                import_module(name)
    # Whatever it is that another layout runs into, the usual import knows nothing of it.
    except Exception:  # noqa: BLE001
        for name in list(sys.modules):
            if name.partition(".")[0] in ("mcp", "mcp_types"):
                del sys.modules[name]
        return False
    return True


def _installed() -> str | None:
    try:
        return version("mcp")
    except PackageNotFoundError:
        return None


@contextmanager
def _prepared() -> Iterator[None]:
    usual = BaseModel.model_config
    BaseModel.model_config = {**usual, "defer_build": True}
    vars(pydantic)["TypeAdapter"] = _DeferredAdapters()
    try:
        for name in _LAZY:
            _add_lazy_package(name)
        for name in _HTTP_ONLY:
            sys.modules[name] = _Placeholder(name)
        yield
    finally:
        for name in _HTTP_ONLY:
            sys.modules.pop(name, None)
        vars(pydantic)["TypeAdapter"] = TypeAdapter
        BaseModel.model_config = usual


class _LazyPackage(ModuleType):
    """A package whose ``__init__`` runs when it is first asked for a name it does not have."""

    def __getattr__(self, name: str) -> Any:
        self.__class__ = ModuleType  # type: ignore[assignment]
        if self.__spec__ is not None and self.__spec__.loader is not None:
            self.__spec__.loader.exec_module(self)
        return getattr(self, name)


def _add_lazy_package(name: str) -> None:
    spec = find_spec(name)
    if spec is None or spec.submodule_search_locations is None:
        raise ImportError(f"{name} is not a package")
    package = _LazyPackage(name)
    package.__spec__, package.__loader__, package.__file__ = spec, spec.loader, spec.origin
    package.__package__, package.__path__ = name, spec.submodule_search_locations
    sys.modules[name] = package
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, package)


class _Placeholder(ModuleType):
    """A module of which any name can be imported, and none can be used."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _not_for_http


def _not_for_http(*_: object, **__: object) -> NoReturn:
    raise RuntimeError("this process imported mcp for stdio alone; it cannot serve HTTP")


class _DeferredAdapters:
    """Makes type adapters that build their validator on first use, where pydantic lets them."""

    def __getitem__(self, _: object) -> "_DeferredAdapters":
        return self

    def __call__(self, kind: Any, **options: Any) -> TypeAdapter[Any]:
        # A class brings its own configuration, and pydantic refuses a second one.
        if not isinstance(kind, type):
            options = {"config": ConfigDict(defer_build=True), **options}
        return TypeAdapter(kind, **options)
