"""Writes every document that is generated from the code; with --check, only compares."""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

import architecture_page
import cli_page
import configuration_page
import errors_page
import hooks_page
from s1gw_generic_systemone import table

from gateway_core.config.schema import config_schema
from gateway_core.schema import PUBLISHED, text_of
from gateway_core.servers.http import openapi
from gateway_core.servers.http.routes import ROUTES

ROOT: Final = Path(__file__).resolve().parent.parent
GENERATED: Final[Mapping[str, Callable[[], str]]] = {
    "docs/architecture.md": architecture_page.render,
    "docs/cli.md": cli_page.render,
    "docs/configuration.md": configuration_page.render,
    "docs/errors.md": errors_page.render,
    "docs/hooks.md": hooks_page.render,
    "docs/known-servers.md": table.render,
    "docs/openapi.json": partial(openapi.published, ROUTES),
    "schema/config.json": lambda: text_of(config_schema()),
    **{f"schema/{name}": partial(text_of, schema) for name, schema in PUBLISHED.items()},
}


def main(check: bool) -> int:
    """Write or compare each file; return the exit status."""
    stale = [name for name, render in GENERATED.items() if _differs(name, render())]
    if check:
        for name in stale:
            print(f"{name} is not what the code says; run: make docs")
        return 1 if stale else 0
    for name in stale:
        (ROOT / name).parent.mkdir(exist_ok=True)
        (ROOT / name).write_text(GENERATED[name](), encoding="utf-8")
        print(f"wrote {name}")
    return 0


def _differs(name: str, wanted: str) -> bool:
    path = ROOT / name
    return not path.exists() or path.read_text(encoding="utf-8") != wanted


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
