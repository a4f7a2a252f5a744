"""The parts of ``docs/architecture.md`` that are drawn from the code; the rest is written by hand.

Each such part stands between two comments, ``<!-- generated: NAME -->`` and ``<!-- end -->``.
"""

import ast
import re
import tomllib
from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import attrs
from markdown import cell

from gateway_core.http1.states import TABLE, ClientTimeouts, State

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "architecture.md"
_PART: Final = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def render() -> str:
    """Return the page with its generated parts brought up to date."""
    return _PART.sub(_written, PAGE.read_text(encoding="utf-8"))


def layers() -> str:
    """Return the layers of the import contract, the highest first, each with what it is."""
    (contract,) = (one for one in _project()["importlinter"]["contracts"] if "layers" in one)
    levels = [level.split(" | ") for level in contract["layers"]]
    rows = [
        f"| {number} | `{name}` | {cell(_sentence(name))} |\n"
        for number, names in zip(range(len(levels), 0, -1), levels, strict=True)
        for name in names
    ]
    return "| layer | module | what it is |\n|---|---|---|\n" + "".join(rows)


def diagram() -> str:
    """Return the states of a connection as a Mermaid diagram."""
    lines = ["stateDiagram-v2", "    [*] --> OPENED"]
    for state, row in TABLE.items():
        lines += [f"    {state.name} --> {following.name}" for following in row.follows]
    ends = [state for state, row in TABLE.items() if not row.follows]
    lines += [f"    {state.name} --> [*]" for state in ends]
    return "```mermaid\n" + "\n".join(lines) + "\n```\n"


def states() -> str:
    """Return the states as a table, and below it what leads from each to the next."""
    rows = [
        f"| `{state.name}` | {row.meaning} | {_limit(row.timeout)} | {row.expires or '-'} |\n"
        for state, row in TABLE.items()
    ]
    head = (
        "| state | what the connection does | time limit | when that is over |\n|---|---|---|---|\n"
    )
    return head + "".join(rows) + "\n" + "".join(map(_moves, TABLE))


def compiled() -> str:
    """Return the compiled modules, folder by folder."""
    hooks = _project()["hatch"]["build"]["targets"]["wheel"]["hooks"]
    paths = sorted(map(Path, hooks["custom"]["modules"]), key=lambda path: path.parent)
    return "".join(
        f"- `{folder}/`: {', '.join(f'`{path.name}`' for path in sorted(found))}\n"
        for folder, found in groupby(paths, key=lambda path: path.parent)
    )


PARTS: Final[Mapping[str, Callable[[], str]]] = {
    "layers": layers,
    "diagram": diagram,
    "states": states,
    "compiled": compiled,
}


def _written(part: re.Match[str]) -> str:
    return f"{part[1]}\n{PARTS[part[2]]()}\n{part[3]}"


def _project() -> Any:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]


def _sentence(module: str) -> str:
    """Return the first line of a module's docstring."""
    path = ROOT / "gateway_core" / module
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].rstrip(".")


def _limit(timeout: str | None) -> str:
    if timeout is None:
        return "none"
    return f"{attrs.fields_dict(ClientTimeouts)[timeout].default:g} s (`{timeout}`)"


def _moves(state: State) -> str:
    following = "".join(_move(row) for row in TABLE[state].follows.items())
    return f"- from `{state.name}`{':' if following else ': the end'}\n{following}"


def _move(row: tuple[State, str]) -> str:
    return f"  - to `{row[0].name}`: {row[1]}\n"
