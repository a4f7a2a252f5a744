"""The page of errors has every code that a caller of the HTTP server can get."""

import ast
from collections.abc import Iterator
from pathlib import Path

import gateway_core

ROOT = Path(gateway_core.__file__).parent
PAGE = ROOT.parent / "docs" / "errors.md"


def constants(call: ast.Call) -> list[object]:
    return [found.value for found in call.args if isinstance(found, ast.Constant)]


def refused_codes() -> Iterator[str]:
    """Yield the codes that the sources refuse with."""
    rooms = ("door", "relay", "servers/http")
    for path in (path for room in rooms for path in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", None))
            given = constants(node)
            if name == "RelayRefused" and given:
                yield str(given[0])
            elif name == "refuse" and len(given) > 1 and isinstance(given[0], int):
                yield str(given[1])


def test_every_code_of_a_refusal_is_on_the_page() -> None:
    page, codes = PAGE.read_text(encoding="utf-8"), set(refused_codes())
    assert {"invalid_api_key", "not_found", "internal_error"} <= codes
    assert [code for code in sorted(codes) if f"`{code}`" not in page] == []
