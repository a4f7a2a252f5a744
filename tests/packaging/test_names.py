"""One noun is one class: what a public name of the host means does not depend on its module."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "gateway_core"
SAME_MEANING = {
    # The same function of two wire formats, which ``wire`` chooses from.
    "body",
    "parse_answer",
    # The same kind of thing on both sides of a layer that neither may import across.
    "Floats",
    "Message",
    "Network",
    "Pairs",
    "SettingsT",
    "digest",
    # What a module begins with.
    "check",
    "serve",
    # A block in which something is watched: decisions, or a plugin under test.
    "watching",
}
"""Names that more than one module defines; this list may only get shorter."""


def test_no_public_name_is_defined_in_two_modules_unless_it_means_the_same() -> None:
    homes: dict[str, set[str]] = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        module = path.relative_to(PACKAGE).with_suffix("").as_posix()
        for name in public_names(ast.parse(path.read_text(encoding="utf-8"))):
            if name[0].isupper() or module not in NAMED_BY_USERS:
                homes[name].add(module)
    several = {name: sorted(found) for name, found in homes.items() if len(found) > 1}
    assert {name: found for name, found in several.items() if name not in SAME_MEANING} == {}
    assert several.keys() == SAME_MEANING


NAMED_BY_USERS = {
    path.relative_to(PACKAGE).with_suffix("").as_posix()
    for path in (*PACKAGE.glob("cli/**/*.py"), PACKAGE / "servers/http/handlers.py")
}
"""Where functions are commands and handlers, which are called what users call them."""


def public_names(tree: ast.Module) -> Iterator[str]:
    """Yield the classes, functions and names of types that a module defines."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name = node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name.isupper() or not name[0].isupper():
                continue
        else:
            continue
        if not name.startswith("_"):
            yield name
