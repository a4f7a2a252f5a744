"""One message of MCP as it comes in: read strictly, and refused here if it cannot go on.

The ``mcp`` package drops what its own parser refuses, and the client waits for a reply until it
gives up. So messages are read here, by the gateway's rules of JSON (``strict_json``), and the
package is only given what it takes. Whatever else comes is answered:

* a call of ``system1_decide`` goes on without its arguments, and the tool answers what is wrong
  with them as ``POST /v1/decide`` does (``Refusal``);
* anything else gets an error of JSON-RPC, with the id of the request if that can be found.
"""

import json
from typing import Any, Final

import attrs
import mcp_types as types
from pydantic import ValidationError

from gateway_core.errors import InvalidJson, InvalidRequest
from gateway_core.servers.mcp.identity import Identity, identity_at_the_edges, identity_of
from gateway_core.servers.mcp.refusal import Refusal
from gateway_core.strict_json import MAX_DEPTH, read_json

_ENVELOPE_DEPTH: Final = 2
"""The message and its ``params``, around the arguments that ``/v1/decide`` takes alone."""
EDGE: Final = 512
"""How many bytes of either end of a message are searched for its id."""
_MOST_ANSWERED: Final = 100
_MOST_DIGITS: Final = 18
_HALF: Final = "half a surrogate pair, which is not text"


@attrs.frozen(kw_only=True)
class IncomingMessage:
    """What is to be done with one message.

    Attributes:
        message: what the package is given, if the message can go on.
        refusal: what the tool answers in place of doing its work.
        replies: errors of JSON-RPC, each one message, if it cannot go on.
        lost: why it cannot, in words that quote nothing of it.
    """

    message: types.JSONRPCMessage | None = None
    refusal: Refusal | None = None
    replies: tuple[bytes, ...] = ()
    lost: str = ""


def read_message(text: bytes) -> IncomingMessage:
    """Read one message.

    Args:
        text: JSON, as it came.
    """
    try:
        found = read_json(text, "the message", max_depth=MAX_DEPTH + _ENVELOPE_DEPTH)
    except InvalidJson as error:
        return _unreadable(text, error)
    if isinstance(found, list):
        return _batch(found)
    if not isinstance(found, dict):
        return _lost(None, types.INVALID_REQUEST, "a message must be an object")
    if (b"\\ud" in text or b"\\uD" in text) and not _is_text(found):
        return _with_half_a_pair(found)
    return _checked(found)


def overlong(head: bytes, tail: bytes, limit: int) -> IncomingMessage:
    """Refuse a message of more than ``limit`` bytes, of which both ends were kept."""
    identity = identity_at_the_edges(head, tail)
    return _lost(identity, types.INVALID_REQUEST, f"a message has at most {limit:,} bytes")


def error_message(identity: Identity, code: int, text: str) -> bytes:
    """Return an error of JSON-RPC; ``identity`` is that of the request, if it is known."""
    error = {"code": code, "message": text}
    # In ASCII, since an id may hold half of a surrogate pair.
    return json.dumps({"jsonrpc": "2.0", "id": identity, "error": error}).encode()


def _lost(identity: Identity, code: int, text: str, logged: str | None = None) -> IncomingMessage:
    return IncomingMessage(replies=(error_message(identity, code, text),), lost=logged or text)


def _unreadable(text: bytes, error: InvalidJson) -> IncomingMessage:
    try:
        found = _loosely(text)
    except RecursionError:
        return _lost(
            identity_at_the_edges(text[:EDGE], text[-EDGE:]), types.PARSE_ERROR, str(error)
        )
    except ValueError:
        return _lost(None, types.PARSE_ERROR, str(error))
    if not isinstance(found, dict):
        return _lost(None, types.PARSE_ERROR, str(error))
    if call := _call_of_the_tool(found, error):
        return call
    logged = None if error.field is None else "a key of the message occurs twice"
    return _lost(identity_of(found), types.PARSE_ERROR, str(error), logged)


def _loosely(text: bytes) -> Any:
    """Read what can be read, to find out who waits for the reply.

    A repeated key is left out, for nobody knows which of its values is meant.

    Raises:
        ValueError: it is no JSON by any rule.
        RecursionError: it is nested too deeply for any reader.
    """
    return json.loads(
        text.decode("utf-8-sig", "replace"), object_pairs_hook=_unrepeated, parse_int=_small_int
    )


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        found = {name: value for name, value in pairs if names.count(name) == 1}
    return found


def _small_int(digits: str) -> int:
    return int(digits) if len(digits) <= _MOST_DIGITS else 0


def _batch(found: list[Any]) -> IncomingMessage:
    text = "a batch is not taken; send each message on its own"
    waiting = [identity for each in found if (identity := identity_of(each)) is not None]
    told = (None, *waiting[:_MOST_ANSWERED])
    replies = tuple(error_message(identity, types.INVALID_REQUEST, text) for identity in told)
    return IncomingMessage(replies=replies, lost=text)


def _is_text(found: object) -> bool:
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _with_half_a_pair(found: dict[str, Any]) -> IncomingMessage:
    error = InvalidRequest(f"the message holds {_HALF}")
    call = _call_of_the_tool(found, _named(found, error))
    return call or _lost(identity_of(found), types.INVALID_REQUEST, str(error))


def _named(found: dict[str, Any], error: InvalidRequest) -> InvalidRequest:
    """Return the error that names the field at fault, if it is one of the tool's arguments."""
    from gateway_core.decide.request import parse_request

    try:
        parse_request(_arguments(found), "")
    except InvalidRequest as named:
        return named
    return error


def _arguments(found: dict[str, Any]) -> Any:
    params = found.get("params")
    return params.get("arguments") if isinstance(params, dict) else None


def _call_of_the_tool(found: dict[str, Any], error: InvalidRequest) -> IncomingMessage | None:
    """Return the call without its arguments, if ``found`` is one of ``system1_decide``."""
    params = found.get("params")
    if found.get("method") != "tools/call" or not isinstance(params, dict):
        return None
    if params.get("name") != "system1_decide":
        return None
    call = {**found, "jsonrpc": "2.0", "params": {**params, "arguments": {}}}
    checked = _checked(call) if _is_text(call) else None
    if checked is None or checked.message is None:
        return None
    return attrs.evolve(checked, refusal=Refusal.of(error, _arguments(found)))


def _checked(found: dict[str, Any]) -> IncomingMessage:
    if fault := _fault(found):
        return _lost(identity_of(found), *fault)
    try:
        message = types.jsonrpc_message_adapter.validate_python(found, by_name=False)
    except ValidationError:
        text = "the message is no request, notification or response of JSON-RPC"
        return _lost(identity_of(found), types.INVALID_REQUEST, text)
    return IncomingMessage(message=message)


def _fault(found: dict[str, Any]) -> tuple[int, str] | None:
    """Return the code and the words for what is wrong with the fields around ``params``."""
    identity = found.get("id")
    if found.get("jsonrpc") != "2.0":
        return types.INVALID_REQUEST, 'jsonrpc must be "2.0"'
    if "method" not in found:
        answers = "result" in found or "error" in found
        return None if answers else (types.INVALID_REQUEST, "method is missing")
    if "id" in found and (isinstance(identity, bool) or not isinstance(identity, int | str)):
        return types.INVALID_REQUEST, "id must be a string or an integer"
    if not isinstance(found["method"], str):
        return types.INVALID_REQUEST, "method must be a string"
    if not isinstance(found.get("params", {}), dict | None):
        return types.INVALID_PARAMS, "params must be an object"
    return None
