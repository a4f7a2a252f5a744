# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""What answers each route."""

from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from typing import Any, Final

from gateway_core.decide import refused
from gateway_core.door.bodies import BodyLimit
from gateway_core.door.callers import Caller, require_asking
from gateway_core.errors import InvalidRequest
from gateway_core.http1.messages import HttpReply
from gateway_core.relay.route import RelayRoute
from gateway_core.servers.http.exchange import Exchange
from gateway_core.servers.http.readiness import why_not_ready
from gateway_core.servers.http.services import Services
from gateway_core.servers.http.tenants import TenantGateway, parse_question

PendingReply = Coroutine[Any, Any, HttpReply]
RouteHandler = Callable[[Services, Exchange], PendingReply]
TenantHandler = Callable[[Services, Exchange, TenantGateway, Caller], PendingReply]
MAX_MCP_BYTES: Final = 4 * 1024 * 1024
MAX_QUESTION_BYTES: Final = 4 * 1024 * 1024
_MESSAGE: Final = BodyLimit(MAX_MCP_BYTES, "that is the most for a message of MCP")
_QUESTION: Final = BodyLimit(MAX_QUESTION_BYTES, "that is the most for a question")
"""A question is read into Python objects, in one piece, while others wait."""
_STATUSES: Final[Mapping[str, int]] = {
    "invalid_request": 400,
    "config_error": 503,
    "provider_timeout": 504,
    "provider_error": 502,
    "malformed_response": 502,
}
"""The HTTP status of a decide reply, by its error's code."""


def systemone(services: Services, exchange: Exchange) -> PendingReply:
    """Relay a System One body."""
    return services.relay.decide(
        RelayRoute.SYSTEMONE, exchange.head.headers, exchange.client, exchange.body, exchange.access
    )


def decisions(services: Services, exchange: Exchange) -> PendingReply:
    """Relay a body of either format."""
    return services.relay.decide(
        RelayRoute.DECISIONS, exchange.head.headers, exchange.client, exchange.body, exchange.access
    )


def models(services: Services, exchange: Exchange) -> PendingReply:
    """List the caller's models."""
    return services.relay.models(exchange.head.headers, exchange.client, exchange.access)


def models_for_any_client(services: Services, exchange: Exchange) -> PendingReply:
    """List the caller's models where the clients of both formats look for them."""
    return services.relay.models(
        exchange.head.headers, exchange.client, exchange.access, with_names=True
    )


async def healthz(services: Services, exchange: Exchange) -> HttpReply:
    """Say that the process is up, and whether it was refused a reload; why is in the log."""
    refused_reload = {"reload": "refused"} if services.kept.life.reload_faults else {}
    return exchange.json(200, {"status": "ok", **refused_reload})


async def readyz(services: Services, exchange: Exchange) -> HttpReply:
    """Say whether a request that is right can be served; nothing is asked or waited for."""
    reason = why_not_ready(services)
    if reason is None:
        return exchange.json(200, {"status": "ready"})
    return exchange.refuse(503, "not_ready", reason)


def _admitted(answer: TenantHandler) -> RouteHandler:
    """Return a handler that authenticates, and counts the request while ``answer`` runs."""

    @wraps(answer)
    async def handler(services: Services, exchange: Exchange) -> HttpReply:
        headers, access = exchange.head.headers, exchange.access
        caller = services.door.authenticate(headers, exchange.client, access)
        require_asking(caller, headers)
        async with services.door.admitted(caller):
            with services.tenants.serving(caller) as tenant:
                return await answer(services, exchange, tenant, caller)

    return handler


@_admitted
async def decide(
    services: Services, exchange: Exchange, tenant: TenantGateway, caller: Caller
) -> HttpReply:
    """Answer one question."""
    headers, body, access = exchange.head.headers, exchange.body, exchange.access
    async with services.relay.reading(caller, headers, body, access, _QUESTION) as content:
        try:
            question = parse_question(content, access.request_id)
        except InvalidRequest as error:
            return _decided(exchange, refused(error, access.request_id))
        return _decided(exchange, await tenant.gateway.decide(question))


def _decided(exchange: Exchange, reply: Mapping[str, Any]) -> HttpReply:
    error = reply["error"]
    exchange.rename(reply["request_id"])
    exchange.access.provider = reply["provider"]
    if error is None:
        return exchange.json(200, reply)
    exchange.access.code = error["code"]
    return exchange.json(_STATUSES[error["code"]], reply)


@_admitted
async def health(
    services: Services, exchange: Exchange, tenant: TenantGateway, _caller: Caller
) -> HttpReply:
    """Probe the providers of the caller's chain."""
    report = await tenant.gateway.health()
    if services.keys is None:
        # Without authentication everyone is the operator, whose file it is.
        faults = (f"reload refused: {fault}" for fault in services.kept.life.reload_faults)
        report["config_errors"] = [*report["config_errors"], *faults]
    return exchange.json(200, report)


@_admitted
async def capabilities(
    _: Services, exchange: Exchange, tenant: TenantGateway, _caller: Caller
) -> HttpReply:
    """Tell what the caller can ask."""
    return exchange.json(200, await tenant.gateway.capabilities())


@_admitted
async def mcp(
    services: Services, exchange: Exchange, tenant: TenantGateway, caller: Caller
) -> HttpReply:
    """Answer one message of MCP."""
    headers, body, access = exchange.head.headers, exchange.body, exchange.access
    async with services.relay.reading(caller, headers, body, access, _MESSAGE) as content:
        return await tenant.mcp.answer(exchange, content)
