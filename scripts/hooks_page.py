"""Renders docs/hooks.md from the hook specification and the records that cross it."""

import inspect
from enum import StrEnum
from typing import Any, Final

import markdown

from gateway_core import (
    DecideRequest,
    MiddlewareContext,
    Outcome,
    Reason,
    Verdict,
    context,
    hookspecs,
    types,
)
from gateway_core.api import HOOKS, MIDDLEWARE_GROUP
from gateway_core.hookspecs import ProviderSpec
from gateway_core.wire import Question

RECORDS: Final = (
    types.Capabilities,
    types.LabelRules,
    types.DecisionRequest,
    types.DecisionReply,
    types.ProbeResult,
    types.ModelInfo,
    context.Endpoint,
)
MET_BY_MIDDLEWARE: Final = (
    MiddlewareContext,
    DecideRequest,
    Question,
    Outcome,
    Verdict,
)
CHOICES: Final = (types.Format, types.Operation, types.YesNo, types.EmptyState)

HEAD = """\
# The hooks of a provider

Generated from `gateway_core/hookspecs.py`, API version {version}; do not edit. To write a provider
step by step, read [writing-a-provider.md](writing-a-provider.md).

{manual}

"""

CONTEXT = """\
## What a provider is built with

`ProviderClass(context)`, with one `ProviderContext[Settings]`:

{fields}
The class may say three things of itself, each as a class attribute: `settings_class`, an attrs
class of its own keys; `default_base_url`; `default_models`.

"""

HELPERS = """\
## What else there is for a provider

- `bearer(key)`: the `authorization` header for a key; no header at all for None.
- `Secret`: a credential; neither `str` nor `repr` shows it. `secret.reveal()` returns its text, for
  the line that sends it or signs with it. In a settings class a field of this type is read from
  where the configuration says: `{ env = "NAME" }` or `{ file = "PATH" }`.
- `IN_PROCESS`: what `build_url` begins with, and no address follows, in a provider that sends
  nothing anywhere and so is not `remote`.

[writing-an-unusual-provider.md](writing-an-unusual-provider.md) uses each of them.

"""

TAIL = """\
## Entry points

A distribution names its provider class in the group `{providers}`; the entry
point's name is the dialect, `[a-z][a-z0-9-]*`. The group's name holds the API version, so that a
plugin for another version is recognised, and reported as incompatible, without being imported.

What the host must know before it imports anything stands in the group
`{claims}`. Each name is `kind.value`, and the object is the same class:

| claim | meaning |
|---|---|
| `host.HOSTNAME` | an endpoint with this host is this vendor's, whatever the provider is called |
| `vendor.ID` | a provider called `ID` is this vendor's; internal callers may name `ID/model` |
| `format.FORMAT` | this dialect serves any other endpoint of that format: `systemone` or `openai` |
| `key.VARIABLE` | the environment variable in which this vendor's key is usually kept |
| `order.NUMBER` | the place in the automatic chain; lower comes first, 50 when absent |
| `embedded.DIALECT` | works with nothing configured, in process; last in the automatic chain |

A host, a vendor, a format or a variable that two dialects claim goes to neither:
`s1gw plugins list` and `s1gw health` say so, and the user disables one, or writes a table that
says what is meant.

"""

MIDDLEWARE = """\
## What a middleware meets

Decision middleware is no provider and has no hooks. It is one class in the group
`{group}`, built as `MiddlewareClass(context)`, with one method,
`async def decide(request, proceed)`; [writing-a-middleware.md](writing-a-middleware.md) leads to
one. It gets a `DecideRequest`, and returns an `Outcome`: what `proceed` returned, or one of its
own.

"""

PROMISES = """\
## What a version promises

Two numbers count: the API version, {version}, which is in the names of the entry-point groups, and
the version of the distribution `s1gw`, which follows semantic versioning.

- The names in `gateway_core.__all__`, `gateway_core.errors`, `gateway_core.wire` and
  `gateway_core.testing` are public; everything else may change in any release.
- An API version promises that a plugin which passes the conformance kit keeps working. A hook
  may gain an argument: implementations that do not name it never see it. A record may gain a
  field that has a default. A hook may be added with a default answer.
- Renaming or dropping an argument or a field is announced by a `DeprecationWarning` for at least
  one minor release before the release that does it.
- A change of meaning, or of what a hook returns, is a new API version with an entry-point group
  of its own. For one major release the host reads both groups.
- Until 1.0 a minor release counts as a major one, which is why plugins depend on
  `s1gw>=0.1,<0.2`; the deprecation then takes one release.
- The kit may gain checks in a minor release; each new check is named in the changelog.
"""


def render() -> str:
    """Return the page: the manual, the hooks, the records, the context, and the rules."""
    manual = markdown.docstring(inspect.getdoc(hookspecs) or "")
    parts = [HEAD.format(version=hookspecs.API_VERSION, manual=manual)]
    parts += [_hook(name) for name in HOOKS]
    parts += ["## What crosses the line\n\n", *map(_record, RECORDS), *map(_choices, CHOICES)]
    parts.append(CONTEXT.format(fields=markdown.fields(context.ProviderContext)))
    parts += [_member(name, found) for name, found in _members(context.ProviderContext)]
    parts.append(HELPERS)
    parts.append(
        TAIL.format(
            providers=hookspecs.PROVIDERS_GROUP,
            claims=hookspecs.CLAIMS_GROUP,
        )
    )
    parts.append(MIDDLEWARE.format(group=MIDDLEWARE_GROUP))
    parts += [*map(_record, MET_BY_MIDDLEWARE), _choices(Reason)]
    parts.append(PROMISES.format(version=hookspecs.API_VERSION))
    return "".join(parts)


def _hook(name: str) -> str:
    hook = getattr(ProviderSpec, name)
    return f"## `{markdown.signature(hook)}`\n\n{_doc(hook)}"


def _record(cls: type) -> str:
    summary = (inspect.getdoc(cls) or "").partition("\n")[0]
    return f"### `{cls.__name__}`\n\n{markdown.code(summary)}\n\n{markdown.fields(cls)}\n"


def _choices(cls: type[StrEnum]) -> str:
    summary = markdown.code(inspect.getdoc(cls) or "")
    return f"### `{cls.__name__}`\n\n{summary}\n\n{markdown.choices(cls)}\n"


def _members(cls: type) -> list[tuple[str, Any]]:
    """Return the public methods and properties of a class, in the order they are written."""
    return [
        (name, found)
        for name, found in vars(cls).items()
        if not name.startswith("_") and (inspect.isfunction(found) or isinstance(found, property))
    ]


def _member(name: str, found: Any) -> str:
    if isinstance(found, property):
        return f"### `context.{name}`\n\n{_doc(found)}"
    called = markdown.signature(found).replace("async def ", "await ").removeprefix("def ")
    return f"### `{called.replace(f'{name}(', f'context.{name}(', 1)}`\n\n{_doc(found)}"


def _doc(found: object) -> str:
    return f"{markdown.docstring(inspect.getdoc(found) or '').rstrip()}\n\n"
