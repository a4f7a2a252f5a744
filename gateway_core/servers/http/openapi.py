"""The OpenAPI document, built from the table of routes and the schemas of the contracts.

``python -m gateway_core.servers.http.openapi`` writes it to ``docs/openapi.json``.
"""

import json
import sys
from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from gateway_core import __version__
from gateway_core.servers.http.routes import ROUTES, Route
from gateway_core.servers.http.shapes import SHAPES

_JSON: Final = "application/json"
_SECURITY: Final = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "x-api-key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
}
_REQUEST_ID: Final = {
    "x-request-id": {
        "description": "The id under which the gateway logged the request.",
        "schema": {"type": "string"},
    }
}

# By RFC 9110; Python before 3.13 has their older names, and the document must not depend on it.
_RENAMED: Final = {413: "Content Too Large", 422: "Unprocessable Content"}


def document(routes: Iterable[Route] = ROUTES) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of ``routes``."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "s1gw",
            "version": __version__,
            "description": "The gateway for decision models.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{name: []} for name in _SECURITY],
        "paths": paths,
        "components": {"securitySchemes": _SECURITY, "schemas": SHAPES},
    }


def _operation(route: Route) -> dict[str, Any]:
    replies = {"200": _reply("The answer.", route.response)}
    for status in route.errors:
        replies[str(status)] = _reply(_phrase(status), route.refusal)
    found: dict[str, Any] = {
        "operationId": route.handler.__name__,
        "summary": route.summary,
        "responses": replies,
    }
    if route.request is not None:
        found["requestBody"] = {"required": True, "content": _content(route.request)}
    if route.open:
        found["security"] = []
    return found


def _phrase(status: int) -> str:
    return _RENAMED.get(status) or HTTPStatus(status).phrase


def _reply(description: str, shape: str) -> dict[str, Any]:
    return {"description": description, "headers": _REQUEST_ID, "content": _content(shape)}


def _content(shape: str) -> dict[str, Any]:
    return {_JSON: {"schema": {"$ref": f"#/components/schemas/{shape}"}}}


def published() -> str:
    """Return the document as it is served and kept in ``docs/openapi.json``."""
    return json.dumps(document(), indent=2) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else "docs/openapi.json").write_text(
        published(), encoding="utf-8"
    )
