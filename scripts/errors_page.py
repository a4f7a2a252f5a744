"""Renders docs/errors.md from the error tree and the relay's table of outcomes."""

import inspect

from gateway_core import errors
from gateway_core.door import status
from gateway_core.errors import GatewayError, RelayRefused

HEAD = """\
# Errors

Generated from `gateway_core/errors.py` and `gateway_core/door/status.py`; do not edit.

No error holds a credential, a body or a resolved address. A plugin raises `ProviderError` or what
is below it; anything else that it raises is reported as `ProviderCrashed`, by its type alone.

```text
{tree}
```

## What each error becomes

The decide contract (MCP, `POST /v1/decide`, `s1gw decide`, the Python API) reports a code in
`error.code`; the relay answers with a status and a code in the envelope
`{{"error": {{"message", "type", "param", "code"}}}}`. An error without a line of its own is told as
the one above it in the tree.

| error | decide code | HTTP status | HTTP code |
|---|---|---|---|
"""

REFUSALS = """
`UpstreamRejected` keeps an upstream's 422 as 422.

## What the relay refuses itself

These never reach a provider.

| HTTP status | HTTP code |
|---|---|
"""

SERVER = """
While it ends, the server answers 503 `provider_overloaded` with `Retry-After`.

## What the HTTP server answers by itself

In the same envelope, for every route and for paths that are none. Each refusal of the gateway's own
carries its request id as `x-request-id` and as `x-typesafe-request-id`.

| HTTP status | HTTP code |
|---|---|
"""


def render() -> str:
    """Return the page: the tree, the errors' outcomes, and the relay's own refusals."""
    tree = (inspect.getdoc(errors) or "").split("\n\n")[1]
    page = HEAD.format(tree=inspect.cleandoc(tree))
    page += "".join(_row(kind) for kind in _kinds(GatewayError))
    page += REFUSALS
    for reason in status.REFUSALS:
        page += f"| {status.REFUSALS[reason]} | `{reason}` |\n"
    page += SERVER
    for code, told in status.SERVER_REFUSALS.items():
        page += f"| {told} | `{code}` |\n"
    return page


def _kinds(kind: type[GatewayError]) -> list[type[GatewayError]]:
    own = [kind] if kind in status.ERRORS else []
    return own + [found for child in kind.__subclasses__() for found in _kinds(child)]


def _row(kind: type[GatewayError]) -> str:
    if issubclass(kind, RelayRefused):
        return ""
    told = status.ERRORS[kind]
    return f"| `{kind.__name__}` | `{kind.code}` | {told.status} | `{told.code}` |\n"
