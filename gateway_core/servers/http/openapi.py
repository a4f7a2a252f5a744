"""The OpenAPI document, built from a table of routes and the schemas of the contracts."""

import json
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any, Final

from gateway_core.servers.http.route import HttpRoute
from gateway_core.servers.http.shapes import SHAPES
from gateway_core.version import __version__

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


def document(routes: Iterable[HttpRoute]) -> dict[str, Any]:
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


def _operation(route: HttpRoute) -> dict[str, Any]:
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


def published(routes: Iterable[HttpRoute]) -> str:
    """Return the document as it is served and kept in ``docs/openapi.json``."""
    return json.dumps(document(routes), indent=2) + "\n"
