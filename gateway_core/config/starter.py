"""The file that ``s1gw config init`` writes: every key, commented out, with what it means."""

import textwrap
from collections.abc import Iterator
from typing import Final

import tomli_w

from gateway_core.config.reference import Key, keys_of, summary_of
from gateway_core.config.sections import SECTIONS

_HEAD: Final = """\
# The configuration of s1gw. Without any of it, s1gw asks whatever is installed and usable as
# it stands. A line that is commented out shows a key's default, or an example.
# Try it with: s1gw config check

# Files that hold more organizations, and nothing else.
# include = ["orgs.d/*.toml"]

# Who is asked. A provider is a dialect (s1gw plugins list) with an endpoint and a credential;
# credentials stay in the environment or in files.
# [providers.typesafe]
# api_key = { env = "TYPESAFE_API_KEY" }

# [providers.laya]
# base_url = "http://127.0.0.1:8765"

# [providers.mine]
# api_format = "systemone"
# base_url = "https://decisions.example.com"
# api_key = { file = "~/.secrets/decisions.key" }
# models = ["my-model"]
"""
_WIDTH: Final = 96


def starter() -> str:
    """Return the text of a starter file, which says nothing until lines are uncommented."""
    sections = (_section(name) for name in SECTIONS)
    return _HEAD + "".join(f"\n{section}" for section in sections)


def _section(name: str) -> str:
    cls = SECTIONS[name]
    lines = [f"# {summary_of(cls)}", f"[{name}]"]
    for key in keys_of(name, cls):
        lines += _key(key)
    return "\n".join(lines) + "\n"


def _key(key: Key) -> Iterator[str]:
    text = f"{key.meaning} Takes {key.takes}.".replace("`", "")
    yield from textwrap.wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# ")
    shown = "..." if key.default is None else tomli_w.dumps({"x": key.default}).strip()[4:]
    yield f"# {key.name} = {shown}"
