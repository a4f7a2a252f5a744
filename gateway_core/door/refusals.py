"""The envelope of every refusal and error, whatever route it answers."""

from typing import Any, Final, NamedTuple

import msgspec

from gateway_core.door.access import AccessEntry
from gateway_core.door.request_ids import own_ids
from gateway_core.door.status import error_reply, error_type
from gateway_core.errors import GatewayError, InvalidRequest, RelayRefused
from gateway_core.http1.messages import HttpReply, header_bytes

JSON: Final = (b"content-type", b"application/json")


def short_of_resources() -> RelayRefused:
    """Return the refusal of a call that cannot be served for a shortage that may soon be over."""
    return RelayRefused(
        "provider_overloaded",
        "the gateway is short of descriptors or memory",
        headers={"retry-after": "1"},
    )


class Detail(NamedTuple):
    """What an upstream said about a refusal, as far as it may be shown.

    Attributes:
        message: its message, redacted.
        code: its own code, where that is of OpenAI's published set.
        param: the field that it names.
    """

    message: str
    code: str | None = None
    param: str | None = None


def refusal(error: GatewayError, access: AccessEntry, *, detail: Detail | None = None) -> HttpReply:
    """Return the envelope of ``error`` with its status and headers, and note its code.

    Args:
        error: what happened; only its kind, and a refusal's own words, reach the caller.
        access: what the code is noted in.
        detail: what the upstream said, as far as it may be shown.
    """
    described = error_reply(error)
    field = error.field if isinstance(error, RelayRefused | InvalidRequest) else None
    code, message = described.code, described.sentence
    if detail is not None:
        code, field = detail.code or code, detail.param
        message = f"{message}: {detail.message}"
    content = envelope(described.status, code, message, field)
    headers = [JSON, *own_ids(access.request_id)]
    if isinstance(error, RelayRefused):
        headers += [
            (header_bytes(name), header_bytes(text)) for name, text in error.headers.items()
        ]
    access.code = described.code
    return HttpReply(status=described.status, headers=headers, body=content)


def envelope(status: int, code: str, message: str, param: str | None = None) -> bytes:
    """Return the JSON envelope that every error has."""
    error: dict[str, Any] = {
        "message": message,
        "type": error_type(status),
        "param": param,
        "code": code,
    }
    return msgspec.json.encode({"error": error})
