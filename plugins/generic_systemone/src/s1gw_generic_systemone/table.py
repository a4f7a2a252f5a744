"""The table of known servers for the documentation, written from the data.

python -m s1gw_generic_systemone.table > docs/known-servers.md
"""

import sys
from collections.abc import Callable, Sequence
from typing import Final

from s1gw_generic_systemone.hosted import HOSTED
from s1gw_generic_systemone.known import ANY
from s1gw_generic_systemone.self_hosted import SELF_HOSTED
from s1gw_generic_systemone.server import Server

_INTRODUCTION: Final = """\
# Known servers

The `generic-systemone` provider speaks to any server that implements System One. What differs
between the servers that people run is data in that plugin, and this page is written from it.

```toml
[providers.home]
dialect  = "generic-systemone"
base_url = "http://localhost:11434"
models   = ["nimble"]
settings.server = "ollama"
settings.max_options = 20
```

`server` picks a row; without it the base URL's host may suggest one; without either the row
"{any}" applies. Every value can be overridden in `settings`, under the name of the column.
The base URL is always yours to give. A `?` marks a value that no documentation or released
source confirms; it was chosen so that the server cannot mind.
"""


def render() -> str:
    """Return the whole page as Markdown."""
    sections = [
        _INTRODUCTION.format(any=ANY.title),
        "## Where and how",
        _table((*HOSTED, *SELF_HOSTED, ANY), _WHERE),
        "## Limits and shapes",
        _table((*HOSTED, *SELF_HOSTED, ANY), _LIMITS),
        "## Failures and notes",
        _table((*HOSTED, *SELF_HOSTED), _FAILURES),
    ]
    return "\n".join(f"{section.rstrip()}\n" for section in sections)


def _code(text: str) -> str:
    return f"`{text}`" if text else "-"


def _codes(texts: Sequence[str]) -> str:
    return ", ".join(_code(text) for text in texts) or "-"


def _full_path(server: Server) -> str:
    prefix = "/v1" if server.prefix is None else server.prefix
    return _code(f"{prefix}{server.path.removeprefix('/v1')}")


def _key(server: Server) -> str:
    value = f"{server.auth_header}: {server.auth_scheme} KEY".replace(":  ", ": ")
    return _code(value) + (" (optional)" if server.keyless else "")


def _labels(server: Server) -> str:
    rules = [f"at most {server.label_max_length} characters"] if server.label_max_length else []
    rules += [] if server.label_control_characters else ["no control characters"]
    rules += [] if server.label_case_sensitive else ["distinct in more than case"]
    return ", ".join(rules) or "any"


_Column = tuple[str, tuple[str, ...], Callable[[Server], str]]
"""Heading, the attributes it shows, and how."""

_WHERE: Final[tuple[_Column, ...]] = (
    ("server", ("name",), lambda server: _code(server.name)),
    ("usual base URL", ("usual_base",), lambda server: _code(server.usual_base)),
    ("path", ("path",), _full_path),
    ("key", ("auth_header", "keyless"), _key),
    ("models_path", ("models_path",), lambda server: _code(server.models_path)),
    ("listing", ("listing",), lambda server: server.listing if server.models_path else "-"),
    ("health_path", ("health_path",), lambda server: _code(server.health_path)),
)
_LIMITS: Final[tuple[_Column, ...]] = (
    ("max_options", ("max_options",), lambda server: str(server.max_options or "-")),
    ("max_questions", ("max_questions",), lambda server: str(server.max_questions or "-")),
    ("empty_state", ("empty_state",), lambda server: str(server.empty_state)),
    ("yes_no", ("yes_no",), lambda server: str(server.yes_no)),
    ("labels", ("label_control_characters",), _labels),
    ("reply_path", ("reply_path",), lambda server: _codes(server.reply_path)),
)
_FAILURES: Final[tuple[_Column, ...]] = (
    ("error shape", ("error_shape",), lambda server: server.error_shape or "-"),
    ("errors with HTTP 200", (), lambda server: _codes(tuple(server.errors_in_success))),
    ("429: retryable", (), lambda server: _codes(server.retryable_codes)),
    ("429: final", (), lambda server: _codes(server.final_codes)),
    ("note", (), lambda server: server.note or "-"),
)


def _table(servers: Sequence[Server], columns: Sequence[_Column]) -> str:
    heads = ["", *(heading for heading, _, _ in columns)]
    lines = [_row(heads), _row(["---"] * len(heads))]
    lines += [
        _row([server.title, *(_cell(server, column) for column in columns)]) for server in servers
    ]
    return "\n".join(lines)


def _cell(server: Server, column: _Column) -> str:
    _, attributes, show = column
    doubt = " ?" if server.unverified.intersection(attributes) else ""
    return f"{show(server)}{doubt}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.stdout.write(render())
