"""The host's imports have no circle; those inside functions and of lazy names count as well."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
Graph = Mapping[str, set[str]]


def test_the_hosts_imports_have_no_circle() -> None:
    assert circle(graph(sources(ROOT, "gateway_core"))) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("from gateway_core.other import name", "from gateway_core.one import name"),
        ("import gateway_core.other", "def f():\n    from gateway_core import one"),
        ("import gateway_core.other as o", "class C:\n    def f(self):\n        from . import one"),
        ("from gateway_core import NAME", "from gateway_core.one import name"),
    ],
)
def test_a_circle_is_found_wherever_the_imports_stand(one: str, other: str) -> None:
    face = "lazy_names(__name__, _HOMES)\n_HOMES = {'other': ('NAME',)}"
    texts = {"gateway_core": face, "gateway_core.one": one, "gateway_core.other": other}
    assert "gateway_core.one" in circle(graph(texts))


def test_what_only_the_type_checker_imports_makes_no_circle() -> None:
    checked = "if TYPE_CHECKING:\n    from gateway_core.other import name"
    texts = {
        "gateway_core": "",
        "gateway_core.one": checked,
        "gateway_core.other": "import gateway_core.one",
    }
    assert circle(graph(texts)) == []


def sources(root: Path, package: str) -> dict[str, str]:
    """Return the text of every module of ``package``, by its name."""
    paths = (root / package).rglob("*.py")
    return {_module_name(path.relative_to(root)): path.read_text("utf-8") for path in paths}


def graph(texts: Mapping[str, str]) -> Graph:
    """Return which module imports which, for modules given by their texts."""
    known = set(texts)
    return {
        module: {one for one in _imported(module, ast.parse(text), known) if one in known}
        for module, text in texts.items()
    }


def circle(imports: Graph) -> list[str]:
    """Return modules that import each other in a circle; none if there is no circle."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def _module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(module: str, tree: ast.Module, known: set[str]) -> Iterator[str]:
    for node in _run(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            parent = _origin(module, node)
            for name in node.names:
                inner = f"{parent}.{name.name}"
                yield inner if inner in known else parent
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "lazy_names":
            yield from _lazy(module, tree, node)


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """Yield every part of a module but what only the type checker reads."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            yield from (inner for other in child.orelse for inner in [other, *_run(other)])
        else:
            yield child
            yield from _run(child)


def _origin(module: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parents = module.split(".")[: -node.level]
    return ".".join([*parents, *filter(None, [node.module])])


def _lazy(module: str, tree: ast.Module, call: ast.Call) -> Iterator[str]:
    """Yield the homes of a package's lazy names, from the dict that ``lazy_names`` is given."""
    homes = call.args[1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(homes, ast.Name):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if homes.id in map(ast.unparse, targets) and node.value is not None:
                homes = node.value
    assert isinstance(homes, ast.Dict), f"{module}: the homes of its lazy names must be a dict"
    for key in homes.keys:
        assert isinstance(key, ast.Constant)
        yield f"{module}.{key.value}"
