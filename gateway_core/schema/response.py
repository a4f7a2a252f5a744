"""What ``system1_decide`` answers; every key is always there."""

from typing import Any, Final

from gateway_core.schema.request import DIALECT, SCHEMA_VERSION

_MILLISECONDS: Final = {"type": "number", "minimum": 0}
_SHARE_OR_NULL: Final = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_TEXT_OR_NULL: Final = {"type": ["string", "null"]}

_ATTEMPT: Final = {
    "type": "object",
    "properties": {
        "provider": {"type": "string", "description": "The provider's configured name."},
        "outcome": {"enum": ["ok", "abstained", "timeout", "error", "malformed"]},
        "latency_ms": _MILLISECONDS,
        "detail": _TEXT_OR_NULL
        | {"description": "What went wrong, why it abstained, or what took several calls."},
        "calls": {
            "type": "integer",
            "minimum": 0,
            "description": "How often the provider was called: 0 when it was skipped, more "
            "than 1 for an order check or a tournament.",
        },
    },
    "required": ["provider", "outcome", "latency_ms", "detail", "calls"],
}

_ERROR: Final = {
    "type": ["object", "null"],
    "description": "Null unless status is error. After a chain that failed it is the error of "
    "the last attempt.",
    "properties": {
        "code": {
            "enum": [
                "invalid_request",
                "config_error",
                "provider_timeout",
                "provider_error",
                "malformed_response",
            ]
        },
        "message": {"type": "string", "description": "For a person; names the field at fault."},
    },
    "required": ["code", "message"],
}

_CALIBRATION: Final = {
    "type": ["object", "null"],
    "description": "The fit that was applied to the probabilities; null when none was.",
    "properties": {
        "id": {"type": "string"},
        "temperature": {"type": "number", "exclusiveMinimum": 0},
        "examples": {"type": "integer", "description": "How many examples it was fitted on."},
        "bucket": {"type": "string", "description": "The range of option counts it is for."},
    },
    "required": ["id", "temperature", "examples", "bucket"],
}

_PROPERTIES: Final[dict[str, Any]] = {
    "status": {
        "enum": ["decided", "abstained", "error"],
        "description": "abstained means: reason it through yourself.",
    },
    "decision": _TEXT_OR_NULL
    | {"description": "One of the options, or yes or no; null unless status is decided."},
    "confidence": _SHARE_OR_NULL
    | {
        "description": "The probability of the provider's decision, after calibration when a "
        "fit matches; also given when it was too low to decide."
    },
    "probabilities": {
        "type": ["object", "null"],
        "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1},
        "description": "By option, in the caller's order, or by yes and no; null when the "
        "provider reports none.",
    },
    "calibrated": {"type": "boolean", "description": "Whether a fitted temperature was applied."},
    "rationale": _TEXT_OR_NULL | {"description": "Why it abstained; null when decided."},
    "provider": _TEXT_OR_NULL | {"description": "Who decided or abstained."},
    "latency_ms": _MILLISECONDS | {"description": "Total time, in milliseconds."},
    "attempts": {
        "type": "array",
        "items": _ATTEMPT,
        "description": "Every provider that was tried or skipped, in order.",
    },
    "error": _ERROR,
    "schema_version": {"const": SCHEMA_VERSION},
    "request_id": {"type": "string", "minLength": 1, "maxLength": 128},
    "model": _TEXT_OR_NULL | {"description": "What the provider says answered."},
    "provider_confidence": _SHARE_OR_NULL
    | {
        "description": "The provider's own number. Its formula differs from provider to "
        "provider: never compare it across them."
    },
    "reason": {
        "enum": [
            "below_threshold",
            "provider_abstained",
            "paused",
            "refused",
            "order_unstable",
            "truncated",
            "stale_evidence",
            "polarity_conflict",
            None,
        ],
        "description": "Why it abstained, as data; null unless status is abstained.",
    },
    "threshold": _SHARE_OR_NULL | {"description": "The threshold that was applied."},
    "calibration": _CALIBRATION,
    "warnings": {
        "type": "array",
        "items": {"type": "string"},
        "description": "What to know about this answer: limits of the provider, a cut input.",
    },
}


def _when(status: str, **rules: object) -> dict[str, Any]:
    return {
        "if": {"properties": {"status": {"const": status}}},
        "then": {"properties": rules},
    }


_NULL: Final = {"type": "null"}
_STRING: Final = {"type": "string"}

RESPONSE: Final[dict[str, Any]] = {
    "$schema": DIALECT,
    "title": "system1_decide reply",
    "description": "The decision, the abstention or the error, version 1. Later releases may "
    "add keys without a new version.",
    "type": "object",
    "properties": _PROPERTIES,
    "required": list(_PROPERTIES),
    "allOf": [
        _when("decided", decision=_STRING, provider=_STRING, error=_NULL, reason=_NULL),
        _when("abstained", decision=_NULL, error=_NULL, reason=_STRING, rationale=_STRING),
        _when("error", decision=_NULL, reason=_NULL, error={"type": "object"}),
    ],
}
