"""Renders docs/configuration.md from the classes that hold the configuration."""

import json
from typing import Any

from gateway_core.config.reference import Key, keys_of, summary_of
from gateway_core.config.sections import TABLES

HEAD = """\
# Configuration

Generated from the classes in `gateway_core/config/model/`; do not edit.

The file is TOML. `s1gw config path` says where it is: `--config FILE`, else `S1GW_CONFIG`, else
`$XDG_CONFIG_HOME/s1gw/config.toml`, else the platform's own place (`~/.config/s1gw/config.toml` on
Linux). `s1gw config init` writes one to start from, `s1gw config check` lists every fault, and
`s1gw config show` prints what is in force. Without a file everything has its default.

**Environment over file over defaults.** The tables below name the variable of each key that has
one. Lists are separated by commas, switches are `1`, `true`, `yes`, `on` or their opposites, and a
blank variable counts as not set.

**Secrets** never stand in the file: `{ env = "NAME" }` reads an environment variable,
`{ file = "PATH" }` a file. Relative paths start at the configuration file's folder. A provider
of the operator without `api_key` takes its vendor's usual variable, such as `TYPESAFE_API_KEY`, as
long as it leads to that vendor's own host; a provider of an organization never does.

**Several files**: `include = ["orgs.d/*.toml"]`, before the first table, names files that hold more
organizations, such as one for each team. They hold `[orgs.NAME]` and what is below it, and nothing
else; their relative paths start at the configuration file's folder, too. A fault is named by its
file and path. An organization that stands in two files is left out until it stands in one.

**Variables**: `${NAME}` in a `base_url` is replaced by an environment variable, which has to be
set; anywhere else in a provider's table it is a fault.

**A fault** never stops the rest, and never allows more than was meant. A broken provider is left
out; a broken `decide.chain` asks nobody, and neither does one behind broken middleware; a broken
threshold abstains; a broken `plugins.disabled` disables every plugin; an organization with a broken
limit is left out. A misspelt key counts as the key that it resembles.

**Which dialect serves a provider**: its `dialect`; else the one that is at home on the host of its
`base_url`; else the one that its name means; else the generic one of its `api_format`. A provider
named like a dialect needs neither.

**Without `decide.chain`**, whoever is usable as it stands is asked: configured providers with a
credential, then installed ones whose usual environment variable is set, then configured ones that
need no credential, and last what works in process. `s1gw health` says why each one is in or out,
and a start with providers beyond this machine says so on stderr.
"""

SAME = "The same keys as `[providers.NAME]`; its credential is never the operator's.\n"

VARIABLES = """
## Variables that are not keys

| variable | meaning |
|---|---|
| `S1GW_CONFIG` | the configuration file |
| `S1GW_STATE_DIR` | the folder of what the gateway writes itself: pause, keys, calibration |
| `S1GW_STRICT_PLUGINS` | `1` makes every problem of configuration and plugins fatal, for CI |
| `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY` | proxies for calls to providers |
"""


def render() -> str:
    """Return the page: how the parts go together, and one table of keys for each table."""
    return HEAD + "".join(_section(name, cls) for name, cls in TABLES.items()) + VARIABLES


def _section(table: str, cls: type) -> str:
    head = f"\n## `[{table}]`\n\n{_code(summary_of(cls))}\n\n"
    if table == "orgs.NAME.providers.ID":
        return (
            head + "The same keys as `[providers.NAME]`; its credential is never the operator's.\n"
        )
    rows = "".join(_row(key) for key in keys_of(table, cls))
    return head + "| key | takes | default | meaning |\n|---|---|---|---|\n" + rows


def _row(key: Key) -> str:
    name = f"`{key.name}`" + (f"<br>`{key.variable}`" if key.variable else "")
    meaning = _code(key.meaning).replace("|", "\\|")
    return f"| {name} | {key.takes} | {_shown(key.default)} | {meaning} |\n"


def _code(text: str) -> str:
    return text.replace("``", "`")


def _shown(default: Any) -> str:
    return "" if default is None else f"`{json.dumps(default)}`"
