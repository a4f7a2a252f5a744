"""The id under which a client waits for the reply to a request that cannot be read."""

import json
import re
from typing import Any, Final

Identity = int | float | str | None
"""What JSON-RPC allows as an id; None where it is not known."""

_VALUE: Final = rb'("[^"\\]{0,200}"|-?[0-9]{1,18})'
_VERSION: Final = rb'"jsonrpc"\s*:\s*"2\.0"'
_METHOD: Final = rb'"method"\s*:\s*"[^"\\]*"'
_AT_THE_START: Final = re.compile(
    rb"\s*\{\s*(?:(?:%b|%b)\s*,\s*)*" % (_VERSION, _METHOD) + rb'"id"\s*:\s*' + _VALUE
)
# What stands before the very last brace is a member of the outermost object.
_AT_THE_END: Final = re.compile(
    rb',\s*"id"\s*:\s*' + _VALUE + rb"\s*(?:,\s*%b\s*)?\}\s*\Z" % _VERSION
)


def identity_of(message: Any) -> Identity:
    """Return the id of a message that was read, if it has one that a reply can name."""
    found = message.get("id") if isinstance(message, dict) else None
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        return None
    return found


def identity_at_the_edges(head: bytes, tail: bytes) -> Identity:
    """Return the id of a message of which only the beginning and the end are known.

    Clients write the id first or last (the Python and the TypeScript SDK): there it is found
    without reading what may be too long or too deep to be read.
    """
    found = _AT_THE_START.match(head) or _AT_THE_END.search(tail)
    if found is None:
        return None
    identity: Identity = json.loads(found[1].decode("utf-8", "replace"))
    return identity
