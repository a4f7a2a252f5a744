"""The decide contract over HTTP, and MCP: for each caller a gateway over its own providers."""

import json
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

import attrs

from gateway_core.errors import ConfigError, InvalidRequest, RelayRefused
from gateway_core.gateway import Gateway
from gateway_core.middleware import build_middleware
from gateway_core.registry import OrgRegistry, Registry
from gateway_core.relay.callers import Caller, CallerKind
from gateway_core.relay.targets import short_of_resources
from gateway_core.servers.http.mcp_face import McpFace

if TYPE_CHECKING:
    from mcp.server import Server


@attrs.frozen(eq=False)
class Desk:
    """Who answers the questions of some callers.

    Attributes:
        gateway: over the providers that they may use.
        mcp: the same over MCP.
    """

    gateway: Gateway
    mcp: McpFace


class Desks:
    """The desks of one process, each opened for the first caller that needs it."""

    def __init__(
        self, registry: Registry, operator: Gateway | None, mcp_hosts: Iterable[str]
    ) -> None:
        """Take the providers of all.

        Args:
            registry: the providers.
            operator: who answers while authentication is disabled.
            mcp_hosts: names that ``/mcp`` takes as Host and Origin beside loopback's.
        """
        self._registry = registry
        self._operator = operator
        self._mcp_hosts = tuple(mcp_hosts)
        self._open: dict[Hashable, Desk] = {}

    def of(self, caller: Caller) -> Desk:
        """Return the desk of ``caller``.

        Raises:
            RelayRefused: ``permission_denied``: it is no organization, and has no providers; or
                ``provider_overloaded``: it cannot be opened now.
        """
        key = (caller.org, caller.models, caller.providers)
        if key not in self._open:
            try:
                gateway = self._gateway(caller)
            except ConfigError as error:
                raise short_of_resources() from error
            self._open[key] = Desk(gateway, McpFace(lambda: _server(gateway), self._mcp_hosts))
        return self._open[key]

    def _gateway(self, caller: Caller) -> Gateway:
        if caller.kind is CallerKind.OPERATOR and self._operator is not None:
            return self._operator
        if caller.kind is not CallerKind.ORG or caller.org is None:
            raise RelayRefused(
                "permission_denied", "questions are answered by an organization's own providers"
            )
        middleware = build_middleware(self._registry.loaded, self._registry.catalog)
        return Gateway.over(OrgRegistry(self._registry, caller.org, caller.may_use), middleware)

    async def aclose(self) -> None:
        """Close what was opened."""
        for desk in self._open.values():
            await desk.mcp.aclose()


def _server(gateway: Gateway) -> "Server[Any]":
    from gateway_core.servers.mcp.server import build_server

    return build_server(gateway)


def parse_question(content: bytes, request_id: str) -> Any:
    """Return the JSON value of a decide request, under ``request_id`` unless it has its own.

    Raises:
        InvalidRequest: it is no JSON, has a key twice, or holds NaN or an infinity.
    """
    try:
        found = json.loads(content, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except InvalidRequest:
        raise
    except (ValueError, RecursionError):
        raise InvalidRequest("the body is not JSON") from None
    return {"request_id": request_id, **found} if isinstance(found, dict) else found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidRequest(f"{twice[:64]!r} occurs twice in one object", twice)
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidRequest(f"{name} is not JSON")
