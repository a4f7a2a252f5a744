"""The one table of routes: what is served, what answers it, and what its document says."""

from functools import cache
from typing import Final

from gateway_core.door.refusals import JSON
from gateway_core.http1.messages import HttpReply
from gateway_core.servers.http import handlers
from gateway_core.servers.http.exchange import Exchange
from gateway_core.servers.http.handlers import RouteHandler
from gateway_core.servers.http.route import HttpRoute
from gateway_core.servers.http.services import Services


async def openapi(_: Services, exchange: Exchange) -> HttpReply:
    """Return the OpenAPI document of this table."""
    return exchange.with_request_id(HttpReply(status=200, headers=[JSON], body=_document()))


@cache
def _document() -> bytes:
    # Most processes are never asked for it.
    from gateway_core.servers.http.openapi import published

    return published(ROUTES).encode()


_RELAYED: Final = (400, 401, 402, 403, 404, 413, 415, 421, 422, 429, 502, 503, 504)
_GUARDED: Final = (400, 401, 403, 421, 429)

ROUTES: Final = (
    HttpRoute(
        method="POST",
        path="/v1/systemone",
        handler=handlers.systemone,
        summary="Relay a System One body to the provider that the model names.",
        request="SystemOneRequest",
        response="DecisionReply",
        errors=_RELAYED,
    ),
    HttpRoute(
        method="POST",
        path="/v1/decisions",
        handler=handlers.decisions,
        summary="Relay a System One or OpenAI Decisions body, told apart by its questions.",
        request="DecisionRequest",
        response="DecisionReply",
        errors=_RELAYED,
    ),
    HttpRoute(
        method="GET",
        path="/v1/decisions/models",
        handler=handlers.models,
        summary="List the decision models that the caller may name.",
        response="ModelList",
        errors=_GUARDED,
    ),
    HttpRoute(
        method="GET",
        path="/v1/models",
        handler=handlers.models_for_any_client,
        summary="List the same models in the forms of both formats, for clients that look here.",
        response="NamedModelList",
        errors=_GUARDED,
    ),
    HttpRoute(
        method="POST",
        path="/v1/decide",
        handler=handlers.decide,
        summary="Answer one question through the decide chain.",
        request="DecideRequest",
        response="DecideReply",
        refusal="DecideRefusal",
        errors=(*_GUARDED, 413, 415, 502, 503, 504),
    ),
    HttpRoute(
        method="GET",
        path="/v1/health",
        handler=handlers.health,
        summary="Probe the providers of the decide chain.",
        response="Health",
        errors=_GUARDED,
    ),
    HttpRoute(
        method="GET",
        path="/v1/capabilities",
        handler=handlers.capabilities,
        summary="Tell what the decide chain can be asked.",
        response="Capabilities",
        errors=_GUARDED,
    ),
    HttpRoute(
        method="POST",
        path="/mcp",
        handler=handlers.mcp,
        summary="The MCP tools over streamable HTTP: stateless, replies in JSON.",
        request="McpMessage",
        response="McpMessage",
        refusal="McpRefusal",
        errors=(*_GUARDED, 404, 406, 413, 415, 503),
    ),
    HttpRoute(
        method="GET",
        path="/healthz",
        handler=handlers.healthz,
        summary="Say that the process is up.",
        response="State",
        open=True,
    ),
    HttpRoute(
        method="GET",
        path="/readyz",
        handler=handlers.readyz,
        summary="Say whether there is a provider to send to.",
        response="State",
        errors=(503,),
        open=True,
    ),
    HttpRoute(
        method="GET",
        path="/openapi.json",
        handler=openapi,
        summary="This document.",
        response="OpenApi",
        open=True,
    ),
)


def _by_request() -> dict[tuple[str, str], RouteHandler]:
    table = {(route.method, route.path): route.handler for route in ROUTES}
    heads = {
        ("HEAD", path): handler for (method, path), handler in table.items() if method == "GET"
    }
    return table | heads


_TABLE: Final = _by_request()
_CHAT: Final = frozenset(
    version + path
    for version in ("", "/v1")
    for path in ("/chat/completions", "/completions", "/responses", "/messages")
)


def find(exchange: Exchange) -> RouteHandler:
    """Return what answers a request, a refusal if nothing else does, and note the route."""
    head = exchange.head
    handler = _TABLE.get((head.method, head.path))
    if handler is None:
        return _refusal_of(exchange)
    exchange.access.route = head.path
    return handler


def _refusal_of(exchange: Exchange) -> RouteHandler:
    path = exchange.head.path
    if _methods(path):
        exchange.access.route = path
        return _refuse_method
    return _refuse_chat if _plain(path) in _CHAT else _refuse_path


def _methods(path: str) -> list[str]:
    return [method for method, known in _TABLE if known == path]


def _plain(path: str) -> str:
    """Return a path in lower case, without empty segments or a slash at its end."""
    return "/" + "/".join(filter(None, path.lower().split("/")))


def _meant(path: str) -> HttpRoute | None:
    """Return the route that a path without one was probably meant for."""
    # Clients differ in whether the base URL that they are given has /v1 at its end.
    tail = _plain(path)
    while tail.startswith("/v1/"):
        tail = tail.removeprefix("/v1")
    known = {route.path: route for route in reversed(ROUTES)}
    return known.get("/v1" + tail) or known.get(tail)


async def _refuse_chat(_: Services, exchange: Exchange) -> HttpReply:
    return exchange.refuse(
        400,
        "chat_not_supported",
        "this gateway serves decisions, not chat: send System One bodies to POST /v1/systemone"
        " and OpenAI Decisions bodies to POST /v1/decisions",
    )


async def _refuse_path(_: Services, exchange: Exchange) -> HttpReply:
    meant = _meant(exchange.head.path)
    way_out = f"use {meant.method} {meant.path}" if meant else "GET /openapi.json lists them"
    return exchange.refuse(404, "not_found", f"there is no such route; {way_out}")


async def _refuse_method(_: Services, exchange: Exchange) -> HttpReply:
    allowed = ", ".join(sorted([*_methods(exchange.head.path), "OPTIONS"]))
    if exchange.head.method == "OPTIONS":
        return exchange.with_request_id(
            HttpReply(status=200, headers=[(b"allow", allowed.encode())], body=b"")
        )
    return exchange.refuse(
        405, "method_not_allowed", f"this route takes {allowed}", {"allow": allowed}
    )
