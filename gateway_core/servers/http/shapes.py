"""The schemas that the OpenAPI document names."""

from collections.abc import Mapping
from typing import Any, Final

from gateway_core.schema import CAPABILITIES, HEALTH, NOT_BLANK, REQUEST, RESPONSE

_STRING: Final = {"type": "string"}
_NOT_BLANK: Final = {"type": "string", "pattern": NOT_BLANK}
_STRING_OR_NULL: Final = {"type": ["string", "null"]}


def _object(required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _body(description: str, questions: Mapping[str, Any]) -> dict[str, Any]:
    model = {**_NOT_BLANK, "description": "A model id, bare or prefixed with its provider's id."}
    shape = _object(("model", "questions"), model=model, questions=questions)
    return {**shape, "description": f"{description} The upstream defines the rest."}


def _bare(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "$schema"}


def _either(*names: str) -> dict[str, Any]:
    return {"anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in names]}


_SYSTEM_ONE: Final = _body("A System One body.", {"type": "object"})
_MODEL: Final = _object(
    ("id", "object", "created", "owned_by", "provider", "format"),
    id=_STRING,
    object={"const": "model"},
    created={"type": "integer"},
    owned_by=_STRING,
    provider=_STRING,
    format={"enum": ["systemone", "openai"]},
)
_NAMED_MODEL: Final = _object(
    ("name", "description", "release_date"),
    name=_STRING,
    description=_STRING,
    release_date=_STRING,
)
_FAULT: Final = _object(
    ("message", "type", "param", "code"),
    message=_STRING,
    type=_STRING,
    param=_STRING_OR_NULL,
    code=_STRING,
)

SHAPES: Final[dict[str, Any]] = {
    "SystemOneRequest": _SYSTEM_ONE,
    "DecisionRequest": {
        "anyOf": [_SYSTEM_ONE, _body("An OpenAI Decisions body.", {"type": "array"})]
    },
    "DecisionReply": {"type": "object", "description": "The upstream's reply, as it came."},
    "ModelList": _object(
        ("object", "data"), object={"const": "list"}, data={"type": "array", "items": _MODEL}
    ),
    "NamedModelList": _object(
        ("object", "data", "models"),
        object={"const": "list"},
        data={"type": "array", "items": _MODEL},
        models={"type": "array", "items": _NAMED_MODEL},
    ),
    "DecideRequest": _bare(REQUEST),
    "DecideReply": _bare(RESPONSE),
    "DecideRefusal": _either("DecideReply", "Error"),
    "Health": _bare(HEALTH),
    "Capabilities": _bare(CAPABILITIES),
    "McpMessage": _object(("jsonrpc",), jsonrpc={"const": "2.0"})
    | {"description": "One JSON-RPC message of MCP."},
    "McpRefusal": _either("McpMessage", "Error"),
    "State": _object(("status",), status=_STRING, reload={"const": "refused"}),
    "OpenApi": {"type": "object", "description": "An OpenAPI document."},
    "Error": _object(("error",), error=_FAULT),
}
