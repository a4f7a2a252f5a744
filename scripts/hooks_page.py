"""Renders docs/hooks.md from the hook specification, which is the manual."""

import inspect

from gateway_core import hookspecs
from gateway_core.api import MIDDLEWARE_GROUP
from gateway_core.hooks import HOOKS
from gateway_core.hookspecs import ProviderSpec

HEAD = """\
# The hooks of a provider

Generated from `gateway_core/hookspecs.py`, API version {version}; do not edit. To write a provider
step by step, read [writing-a-provider.md](writing-a-provider.md).

{manual}

"""

TAIL = """\
## Entry points

A distribution names its provider class in the group `{providers}`; the entry point's name is the
dialect, `[a-z][a-z0-9-]*`. The group's name holds the API version, so that a plugin for another
version is recognised, and reported as incompatible, without being imported.

What the host must know before it imports anything stands in the group `{claims}`. Each name is
`kind.value`, and the object is the same class:

| claim | meaning |
|---|---|
| `host.HOSTNAME` | an endpoint with this host is this vendor's, whatever the provider is called |
| `vendor.ID` | a provider called `ID` is this vendor's; internal callers may name `ID/model` |
| `format.FORMAT` | this dialect serves any other endpoint of that format: `systemone` or `openai` |
| `key.VARIABLE` | the environment variable in which this vendor's key is usually kept |
| `order.NUMBER` | the place in the automatic chain; lower comes first, 50 when absent |
| `embedded.DIALECT` | works with nothing configured, in process; last in the automatic chain |

Decision middleware is no provider and has no hooks: it is one class in the group
`{middleware}`, see [writing-a-middleware.md](writing-a-middleware.md).

## What a version promises

- The names in `gateway_core.__all__`, `gateway_core.errors`, `gateway_core.wire` and
  `gateway_core.testing` are public; everything else may change in any release.
- An API version promises that a provider which passes the conformance kit keeps working. A hook
  may gain an argument: implementations that do not name it never see it. A record may gain a
  field that has a default. A hook may be added with a default answer.
- Renaming or dropping an argument or a field is announced by a `DeprecationWarning` for at least
  one minor release before the release that does it.
- A change of meaning, or of what a hook returns, is a new API version with an entry-point group
  of its own. For one major release the host reads both groups.
- The kit may gain checks in a minor release; each new check is named in the changelog.
"""


def render() -> str:
    """Return the page: the module's manual, one section a hook, and the rules around them."""
    manual = inspect.getdoc(hookspecs) or ""
    parts = [HEAD.format(version=hookspecs.API_VERSION, manual=_as_markdown(manual))]
    parts += [_section(name) for name in HOOKS]
    parts.append(
        TAIL.format(
            providers=hookspecs.PROVIDERS_GROUP,
            claims=hookspecs.CLAIMS_GROUP,
            middleware=MIDDLEWARE_GROUP,
        )
    )
    return "".join(parts)


def _section(name: str) -> str:
    hook = getattr(ProviderSpec, name)
    kind = "async def" if inspect.iscoroutinefunction(hook) else "def"
    signature = str(inspect.signature(hook)).replace("self, ", "").replace("self", "")
    for module in ("gateway_core.types.", "collections.abc."):
        signature = signature.replace(module, "")
    return f"## `{kind} {name}{signature}`\n\n{_as_markdown(inspect.getdoc(hook) or '')}\n\n"


def _as_markdown(docstring: str) -> str:
    """Turn a docstring into Markdown: double backticks, and a fence around indented code."""
    lines: list[str] = []
    fenced = False
    section = False
    for line in docstring.replace("``", "`").splitlines():
        if line in ("Args:", "Returns:", "Raises:"):
            section = True
            lines.append(f"**{line.rstrip(':')}**\n")
            continue
        indented = line.startswith("    ") or (fenced and not line)
        if not section and indented != fenced:
            _close_blank(lines, fenced)
            lines.append("```python" if indented else "```\n")
            fenced = indented
        lines.append(_item(line) if section else line.removeprefix("    "))
    return "\n".join([*lines, "```"] if fenced else lines)


def _close_blank(lines: list[str], fenced: bool) -> None:
    while fenced and lines and not lines[-1]:
        lines.pop()


def _item(line: str) -> str:
    name, colon, rest = line.strip().partition(": ")
    if line.startswith("    ") and not line.startswith("        ") and colon and " " not in name:
        return f"- `{name}`: {rest}"
    return f"  {line.strip()}" if line.startswith("        ") else line.strip()
