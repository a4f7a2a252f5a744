"""The file that ``s1gw config init`` writes: every key, commented out, with what it means."""

import textwrap
from collections.abc import Iterator
from typing import Any, Final

import tomli_w

from gateway_core.config.reference import Key, keys_of, summary_of
from gateway_core.config.sections import SECTIONS

SCHEMA_NAME: Final = "config.schema.json"
"""Where editors find what each key takes: the file beside the configuration."""
_HEAD: Final = f"""\
#:schema ./{SCHEMA_NAME}
# The configuration of s1gw. Without any of it, s1gw asks whatever is installed and usable as
# it stands. A line that is commented out shows a key's default, or an example.
# Try it with: s1gw config check

# Files that hold more organizations, and nothing else.
# include = ["orgs.d/*.toml"]

# Who is asked. A provider is a dialect (s1gw plugins list) with an endpoint and a credential;
# credentials stay in the environment or in files.
# [providers.typesafe]
# api_key = {{ env = "TYPESAFE_API_KEY" }}

# [providers.laya]
# base_url = "http://127.0.0.1:8765"

# [providers.mine]
# api_format = "systemone"
# base_url = "https://decisions.example.com"
# api_key = {{ file = "~/.secrets/decisions.key" }}
# models = ["my-model"]

# Whose callers have keys of their own (s1gw keys create --org acme), over HTTP.
# [orgs.acme.providers.own]
# api_format = "openai"
# base_url = "https://models.acme.example"
# api_key = {{ env = "ACME_API_KEY" }}
# models = ["acme-1"]

# [orgs.acme.limits]
# rpm = 600
# concurrency = 20
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
    yield f"# {key.name} = {_inline(key.example)}"


def _inline(value: Any) -> str:
    """Return a value as TOML on one line."""
    if isinstance(value, dict):
        pairs = ", ".join(f"{name} = {_inline(item)}" for name, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    return tomli_w.dumps({"x": value}).strip()[4:]
