"""What answers each route."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, Final

from gateway_core.decide import refused
from gateway_core.errors import InvalidRequest
from gateway_core.relay.call import RelayReply, Route
from gateway_core.relay.callers import customer_key
from gateway_core.relay.reading import read_whole
from gateway_core.relay.replies import JSON
from gateway_core.servers.http.deciding import Desk, parse_question
from gateway_core.servers.http.exchange import Exchange
from gateway_core.servers.http.services import Services

MAX_MCP_BYTES: Final = 4 * 1024 * 1024
_STATUSES: Final[Mapping[str, int]] = {
    "invalid_request": 400,
    "config_error": 503,
    "provider_timeout": 504,
    "provider_error": 502,
    "malformed_response": 502,
}
"""The HTTP status of a decide reply, by its error's code."""


async def systemone(services: Services, exchange: Exchange) -> RelayReply:
    """Relay a System One body."""
    return await _relayed(services, exchange, Route.SYSTEMONE)


async def decisions(services: Services, exchange: Exchange) -> RelayReply:
    """Relay a body of either format."""
    return await _relayed(services, exchange, Route.DECISIONS)


async def _relayed(services: Services, exchange: Exchange, route: Route) -> RelayReply:
    return await services.relay.decide(
        route, exchange.head.headers, exchange.client, exchange.body, exchange.access
    )


async def models(services: Services, exchange: Exchange) -> RelayReply:
    """List the caller's models."""
    return await services.relay.models(exchange.head.headers, exchange.client, exchange.access)


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


async def decide(services: Services, exchange: Exchange) -> RelayReply:
    """Answer one question."""
    async with _admitted(services, exchange) as desk:
        content = await services.relay.read(exchange.head.headers, exchange.body, exchange.access)
        try:
            question = parse_question(content, exchange.access.request_id)
        except InvalidRequest as error:
            return _decided(exchange, refused(error, exchange.access.request_id))
        return _decided(exchange, await desk.gateway.decide(question))


def _decided(exchange: Exchange, reply: Mapping[str, Any]) -> RelayReply:
    error = reply["error"]
    exchange.access.provider = reply["provider"]
    if error is None:
        return exchange.json(200, reply)
    exchange.access.code = error["code"]
    return exchange.json(_STATUSES[error["code"]], reply)


async def health(services: Services, exchange: Exchange) -> RelayReply:
    """Probe the providers of the caller's chain."""
    async with _admitted(services, exchange) as desk:
        return exchange.json(200, await desk.gateway.health())


async def capabilities(services: Services, exchange: Exchange) -> RelayReply:
    """Tell what the caller can ask."""
    async with _admitted(services, exchange) as desk:
        return exchange.json(200, await desk.gateway.capabilities())


async def mcp(services: Services, exchange: Exchange) -> RelayReply:
    """Answer one message of MCP."""
    async with _admitted(services, exchange) as desk:
        head = exchange.head
        content = await read_whole(head.headers, exchange.body, MAX_MCP_BYTES, exchange.access)
        return await desk.mcp.answer(exchange, content)


@asynccontextmanager
async def _admitted(services: Services, exchange: Exchange) -> AsyncIterator[Desk]:
    """Authenticate, and count the request while it runs."""
    headers, access = exchange.head.headers, exchange.access
    caller = services.relay.authenticate(headers, exchange.client, access)
    customer_key(caller, headers)
    async with services.relay.admitted(caller):
        yield services.desks.of(caller)
