"""What ``system1_health`` and ``system1_capabilities`` answer."""

from typing import Any, Final

from gateway_core.schema.request import DIALECT

_STRING: Final = {"type": "string"}
_STRINGS: Final = {"type": "array", "items": _STRING}
_NUMBER: Final = {"type": "number", "minimum": 0}
_SHARE: Final = {"type": "number", "minimum": 0, "maximum": 1}
_CHAIN_SOURCE: Final = {
    "enum": ["configured", "automatic"],
    "description": "Whether the configuration names the chain, or it is whatever is usable.",
}


def _object(title: str, **properties: Any) -> dict[str, Any]:
    return {
        "title": title,
        "type": "object",
        "properties": properties,
        "required": list(properties),
    }


_CANDIDATES: Final = {
    "type": "array",
    "description": "Every provider that could be in the chain, and why it is or is not.",
    "items": _object("candidate", name=_STRING, in_chain={"type": "boolean"}, why=_STRING),
}

_MIDDLEWARE: Final = {
    "type": "array",
    "description": "What every question passes through; one that is not ok lets none pass.",
    "items": _object("middleware", name=_STRING, ok={"type": "boolean"}, detail=_STRING),
}

HEALTH: Final[dict[str, Any]] = {
    "$schema": DIALECT,
    **_object(
        "system1_health reply",
        status={
            "enum": ["ok", "degraded", "down", "paused"],
            "description": "degraded: the first provider is down or cools down, and another is up.",
        },
        gateway_version=_STRING,
        schema_version=_STRING,
        config_file={
            "type": ["string", "null"],
            "description": "The file that was read; null when there is none.",
        },
        config_errors=_STRINGS,
        chain_source=_CHAIN_SOURCE,
        providers={
            "type": "array",
            "description": "The providers of the chain, each probed at no cost.",
            "items": _object(
                "probe",
                name=_STRING,
                role={"enum": ["primary", "fallback"]},
                ok={"type": "boolean"},
                latency_ms=_NUMBER,
                detail=_STRING,
                cooldown={
                    "type": ["string", "null"],
                    "description": "Why others are asked first now; null when it is asked as "
                    "usual.",
                },
            ),
        },
        candidates=_CANDIDATES,
        middleware=_MIDDLEWARE,
        warnings=_STRINGS,
    ),
}

_FIT: Final = _object(
    "calibration fit",
    id=_STRING,
    provider=_STRING,
    created=_STRING,
    stale={"type": ["string", "null"], "description": "Why it is no longer applied."},
    in_force={"type": "boolean", "description": "Whether it is the last one, or a threshold's."},
)

_EVIDENCE: Final = _object(
    "measured threshold",
    name=_STRING | {"description": "Provider, model, question type and number of options."},
    threshold=_SHARE,
    max_error=_SHARE | {"description": "The budget that it keeps."},
    error_bound=_SHARE,
    coverage=_SHARE,
    examples={"type": "integer", "minimum": 1},
    fit={"type": ["string", "null"], "description": "The fit that it belongs to."},
    created=_STRING,
    stale={"type": ["string", "null"], "description": "Why nothing is accepted on it."},
)

_PROVIDER: Final = _object(
    "provider",
    name=_STRING,
    dialect=_STRING,
    model={"type": ["string", "null"], "description": "The model that is asked."},
    capabilities={"type": "object", "description": "What it can be asked, and its limits."},
)

_AVAILABLE: Final = _object(
    "available provider",
    dialect=_STRING,
    distribution=_STRING,
    version=_STRING,
    state=_STRING,
    detail=_STRING,
)

CAPABILITIES: Final[dict[str, Any]] = {
    "$schema": DIALECT,
    **_object(
        "system1_capabilities reply",
        gateway_version=_STRING,
        schema_versions=_STRINGS,
        tools=_STRINGS,
        chain=_STRINGS | {"description": "Provider names in the order they are asked."},
        chain_source=_CHAIN_SOURCE,
        timeout_s=_NUMBER | {"description": "The time one attempt may take, in seconds."},
        deadline_s=_NUMBER | {"description": "The time the whole call may take, in seconds."},
        threshold=_SHARE,
        thresholds={"type": "object", "additionalProperties": _SHARE},
        evidence={
            "type": "array",
            "description": "The measured thresholds in force, each with its fit.",
            "items": _EVIDENCE,
        },
        providers={"type": "array", "items": _PROVIDER},
        middleware=_MIDDLEWARE,
        calibration={"type": "array", "items": _FIT},
        available_providers={"type": "array", "items": _AVAILABLE},
        config_errors=_STRINGS,
        warnings=_STRINGS,
        request_schema={"type": "object"},
        response_schema={"type": "object"},
    ),
}
