"""The modules that are compiled say so, and hold nothing that the compiler drops in silence."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
COMPILED = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]["modules"]
MARK = '# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.'


def classes(module: str) -> Iterator[ast.ClassDef]:
    tree = ast.parse((ROOT / module).read_text())
    return (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def names(node: ast.AST) -> set[str]:
    """Return every dotted name in ``node``."""
    return {ast.unparse(one) for one in ast.walk(node) if isinstance(one, ast.Attribute | ast.Name)}


@pytest.mark.parametrize("module", COMPILED)
def test_a_compiled_module_says_so_at_its_head(module: str) -> None:
    assert (ROOT / module).read_text().startswith(MARK + "\n")


def test_no_other_module_says_that_it_is_compiled() -> None:
    marked = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "gateway_core").rglob("*.py")
        if path.read_text().startswith(MARK)
    }
    assert marked == set(COMPILED)


@pytest.mark.parametrize("module", COMPILED)
def test_a_compiled_class_has_no_attrs_field(module: str) -> None:
    assert not [node.name for node in classes(module) if "attrs.field" in names(node)]


@pytest.mark.parametrize("module", COMPILED)
def test_a_compiled_struct_has_no_options(module: str) -> None:
    structs = [
        node for node in classes(module) if any("Struct" in ast.unparse(b) for b in node.bases)
    ]
    assert not [node.name for node in structs if node.keywords]


@pytest.mark.parametrize("module", COMPILED)
def test_a_compiled_module_has_no_class_inside_a_function(module: str) -> None:
    tree = ast.parse((ROOT / module).read_text())
    functions = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    nested = [
        inner.name
        for function in functions
        for inner in ast.walk(function)
        if isinstance(inner, ast.ClassDef)
    ]
    assert nested == []
