"""The JSON Schemas of the decide contract, version 1: the one place where they are written.

``make schema`` writes the two published files; ``capabilities`` returns the same objects, and the
MCP tools carry them.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from gateway_core.schema.reports import CAPABILITIES, HEALTH
from gateway_core.schema.request import NOT_BLANK, REQUEST, SCHEMA_VERSION, is_blank
from gateway_core.schema.response import RESPONSE

__all__ = [
    "CAPABILITIES",
    "HEALTH",
    "NOT_BLANK",
    "PUBLISHED",
    "REQUEST",
    "RESPONSE",
    "SCHEMA_VERSION",
    "is_blank",
    "text_of",
]

PUBLISHED: Final = {"request.json": REQUEST, "response.json": RESPONSE}
"""The published files, by name."""


def text_of(schema: Mapping[str, Any]) -> str:
    """Return a schema as it is published."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
