"""The decide contract over HTTP, and MCP: for each caller a gateway over its own providers."""

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import attrs

from gateway_core.door.callers import Caller
from gateway_core.door.refusals import short_of_resources
from gateway_core.errors import ConfigError
from gateway_core.gateway import Gateway
from gateway_core.middleware import build_middleware
from gateway_core.registry import OrgRegistry, Registry
from gateway_core.servers.http.mcp_face import McpFace
from gateway_core.strict_json import read_json

if TYPE_CHECKING:
    from mcp.server import Server


@attrs.frozen(eq=False)
class TenantGateway:
    """Who answers the questions of some callers.

    Attributes:
        gateway: over the providers that they may use.
        mcp: the same over MCP.
    """

    gateway: Gateway
    mcp: McpFace


class TenantGateways:
    """The gateways of one process, each opened for the first caller that needs it."""

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
        self._open: dict[Hashable, TenantGateway] = {}

    def for_caller(self, caller: Caller) -> TenantGateway:
        """Return the gateway over the providers that ``caller`` may use.

        ``caller`` must have the right to ask; see ``door.callers.require_asking``. The key of the
        cache holds everything that the gateway depends on.

        Raises:
            RelayRefused: ``provider_overloaded``: it cannot be opened now.
        """
        key = (caller.kind, caller.org, caller.models, caller.providers)
        tenant = self._open.get(key)
        if tenant is None:
            try:
                gateway = self._gateway(caller)
            except ConfigError as error:
                raise short_of_resources() from error
            mcp = McpFace(lambda: _server(gateway), self._mcp_hosts)
            tenant = self._open[key] = TenantGateway(gateway, mcp)
        return tenant

    def _gateway(self, caller: Caller) -> Gateway:
        # With authentication disabled, everyone is the operator.
        if self._operator is not None:
            return self._operator
        middleware = build_middleware(self._registry.loaded, self._registry.catalog)
        return Gateway.over(
            OrgRegistry(self._registry, caller.org or "", caller.may_use), middleware
        )

    async def aclose(self) -> None:
        """Close what was opened."""
        for tenant in self._open.values():
            await tenant.mcp.aclose()


def _server(gateway: Gateway) -> "Server[Any]":
    from gateway_core.servers.mcp.server import build_server

    return build_server(gateway)


def parse_question(content: bytes, request_id: str) -> Any:
    """Return the JSON value of a decide request, under ``request_id`` unless it has its own.

    Raises:
        InvalidJson: it is no JSON, or not as strict as it has to be; see ``strict_json``.
    """
    found = read_json(content, "the body")
    return {"request_id": request_id, **found} if isinstance(found, dict) else found
