"""The hooks that a provider's source declares: read, never run."""

import ast
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from gateway_core.api import HOOKS
from gateway_core.catalog.refs import PluginRef

_LARGEST: Final = 500_000
"""Bytes of source that are read; more would hold up the listing."""
_DEPTH: Final = 5
"""How many re-exports and base classes are followed."""


def declared_hooks(ref: PluginRef) -> list[str] | None:
    """Return the hooks that the class behind ``ref`` marks, or None when its source is not found.

    A base class is followed within its own distribution's package.
    """
    module, _, name = ref.entry.value.partition(":")
    found = _marked(module.strip(), name.strip(), _DEPTH)
    return None if found is None else [hook for hook in HOOKS if hook in found]


def _marked(module: str, name: str, depth: int) -> set[str] | None:
    file = _file_of(module)
    if file is None or depth == 0:
        return None
    try:
        source = file.read_bytes()
        # Source that is nested too deeply for the parser ends in one of the last two.
        body = ast.parse(source).body if len(source) <= _LARGEST else []
    except (OSError, SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    for node in body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            own = {item.name for item in node.body if _is_hook(item) and hasattr(item, "name")}
            bases = (base.id for base in node.bases if isinstance(base, ast.Name))
            return own.union(*(_marked(module, base, depth - 1) or () for base in bases))
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _marked(_absolute(node, module, file), alias.name, depth - 1)
    return None


def _is_hook(node: ast.stmt) -> bool:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    for marker in node.decorator_list:
        called = marker.func if isinstance(marker, ast.Call) else marker
        if getattr(called, "id", getattr(called, "attr", None)) == "hookimpl":
            return True
    return False


def _absolute(node: ast.ImportFrom, module: str, file: Path) -> str:
    """Return the full name of the module that an import statement of ``module`` names."""
    if not node.level:
        return node.module or ""
    package = module.split(".")
    drop = node.level - (file.name == "__init__.py")
    return ".".join([*package[: len(package) - drop], *filter(None, [node.module])])


def _file_of(module: str) -> Path | None:
    top, *rest = module.split(".")
    try:
        spec = find_spec(top)  # a dotted name would make it import the package
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    if not rest:
        return Path(spec.origin) if spec.origin and spec.has_location else None
    for folder in spec.submodule_search_locations or ():
        base = Path(folder, *rest)
        for file in (base.with_suffix(".py"), base / "__init__.py"):
            if file.is_file():
                return file
    return None
