"""What answers each route."""

from collections.abc import Callable, Coroutine, Mapping
from functools import cache, wraps
from typing import Any, Final

from gateway_core.decide import refused
from gateway_core.errors import InvalidRequest
from gateway_core.relay.call import RelayReply, Route
from gateway_core.relay.callers import Caller, customer_key
from gateway_core.relay.replies import JSON
from gateway_core.servers.http.deciding import Desk, parse_question
from gateway_core.servers.http.exchange import Exchange
from gateway_core.servers.http.services import Services

Answer = Coroutine[Any, Any, RelayReply]
Handler = Callable[[Services, Exchange], Answer]
AtDesk = Callable[[Services, Exchange, Desk, Caller], Answer]
MAX_MCP_BYTES: Final = 4 * 1024 * 1024
MAX_QUESTION_BYTES: Final = 4 * 1024 * 1024
"""A question is read into Python objects, in one piece, while others wait."""
_STATUSES: Final[Mapping[str, int]] = {
    "invalid_request": 400,
    "config_error": 503,
    "provider_timeout": 504,
    "provider_error": 502,
    "malformed_response": 502,
}
"""The HTTP status of a decide reply, by its error's code."""


def systemone(services: Services, exchange: Exchange) -> Answer:
    """Relay a System One body."""
    return services.relay.decide(
        Route.SYSTEMONE, exchange.head.headers, exchange.client, exchange.body, exchange.access
    )


def decisions(services: Services, exchange: Exchange) -> Answer:
    """Relay a body of either format."""
    return services.relay.decide(
        Route.DECISIONS, exchange.head.headers, exchange.client, exchange.body, exchange.access
    )


def models(services: Services, exchange: Exchange) -> Answer:
    """List the caller's models."""
    return services.relay.models(exchange.head.headers, exchange.client, exchange.access)


async def healthz(_: Services, exchange: Exchange) -> RelayReply:
    """Say that the process is up."""
    return exchange.json(200, {"status": "ok"})


async def openapi(_: Services, exchange: Exchange) -> RelayReply:
    """Return the OpenAPI document."""
    return exchange.named(RelayReply(status=200, headers=[JSON], body=_document()))


@cache
def _document() -> bytes:
    # Most processes are never asked, and the document is built from the table that names this
    # handler.
    from gateway_core.servers.http.openapi import published

    return published().encode()


async def readyz(services: Services, exchange: Exchange) -> RelayReply:
    """Say whether there is a provider to send to."""
    if services.can_serve:
        return exchange.json(200, {"status": "ready"})
    return exchange.refuse(503, "not_ready", "no provider is usable; see the log of the start")


def _admitted(answer: AtDesk) -> Handler:
    """Return a handler that authenticates, and counts the request while ``answer`` runs."""

    @wraps(answer)
    async def handler(services: Services, exchange: Exchange) -> RelayReply:
        headers, access = exchange.head.headers, exchange.access
        caller = services.relay.authenticate(headers, exchange.client, access)
        customer_key(caller, headers)
        async with services.relay.admitted(caller):
            return await answer(services, exchange, services.desks.of(caller), caller)

    return handler


@_admitted
async def decide(services: Services, exchange: Exchange, desk: Desk, caller: Caller) -> RelayReply:
    """Answer one question."""
    headers, access = exchange.head.headers, exchange.access
    body = exchange.body
    reading = services.relay.reading(caller, headers, body, access, MAX_QUESTION_BYTES)
    async with reading as content:
        try:
            question = parse_question(content, access.request_id)
        except InvalidRequest as error:
            return _decided(exchange, refused(error, access.request_id))
        return _decided(exchange, await desk.gateway.decide(question))


def _decided(exchange: Exchange, reply: Mapping[str, Any]) -> RelayReply:
    error = reply["error"]
    exchange.access.provider = reply["provider"]
    if error is None:
        return exchange.json(200, reply)
    exchange.access.code = error["code"]
    return exchange.json(_STATUSES[error["code"]], reply)


@_admitted
async def health(_: Services, exchange: Exchange, desk: Desk, _caller: Caller) -> RelayReply:
    """Probe the providers of the caller's chain."""
    return exchange.json(200, await desk.gateway.health())


@_admitted
async def capabilities(_: Services, exchange: Exchange, desk: Desk, _caller: Caller) -> RelayReply:
    """Tell what the caller can ask."""
    return exchange.json(200, await desk.gateway.capabilities())


@_admitted
async def mcp(services: Services, exchange: Exchange, desk: Desk, caller: Caller) -> RelayReply:
    """Answer one message of MCP."""
    headers, access, body = exchange.head.headers, exchange.access, exchange.body
    async with services.relay.reading(caller, headers, body, access, MAX_MCP_BYTES) as content:
        return await desk.mcp.answer(exchange, content)
