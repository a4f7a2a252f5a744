"""The decide contract over HTTP, and MCP: for each caller a gateway over its own providers."""

import asyncio
import logging
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import attrs

from gateway_core.decide import Cooldowns
from gateway_core.door.callers import Caller
<<<<<<< HEAD
from gateway_core.door.keys.store import KeyStore
from gateway_core.door.rights import CallerKind
=======
from gateway_core.door.refusals import short_of_resources
>>>>>>> breaker
from gateway_core.errors import ConfigError
from gateway_core.gateway import Gateway
from gateway_core.middleware import build_middleware
from gateway_core.registry import OrgRegistry, Registry
from gateway_core.servers.http.mcp_face import McpFace
from gateway_core.strict_json import read_json

if TYPE_CHECKING:
    from mcp.server import Server

_log: Final = logging.getLogger("s1gw.http")
MOST_OPEN: Final = 1024
"""How many gateways are open at once; each may hold an MCP server and instances of middleware."""


TenantKey = tuple[CallerKind, str | None, frozenset[str], frozenset[str]]
"""All that a tenant's gateway depends on: a kind of caller, its organization, models, providers."""


@attrs.define(eq=False)
class TenantGateway:
    """Who answers the questions of some callers.

    Attributes:
        gateway: over the providers that they may use.
        mcp: the same over MCP.
        calls: how many of its calls are under way.
        dropped: whether it takes no more calls, and is closed after the last of these.
    """

    gateway: Gateway
    mcp: McpFace
    calls: int = 0
    dropped: bool = False


class TenantGateways:
    """The gateways of one process, each opened for the first caller that needs it.

    One is dropped when no key that works needs it any more, and when too many are open: then the
    one that was asked least recently. What is dropped finishes its calls.
    """

    def __init__(
        self,
        registry: Registry,
        operator: Gateway | None,
        mcp_hosts: Iterable[str],
        keys: KeyStore | None = None,
        most: int = MOST_OPEN,
    ) -> None:
        """Take the providers of all.

        Args:
            registry: the providers.
            operator: who answers while authentication is disabled.
            mcp_hosts: names that ``/mcp`` takes as Host and Origin beside loopback's.
            keys: the gateway's keys; None when authentication is disabled.
            most: how many gateways are open at once, beside those that finish their calls.
        """
        self._registry = registry
        self._operator = operator
        self._mcp_hosts = tuple(mcp_hosts)
        self._cooldowns = Cooldowns()
        self._most = most
        self._open: dict[TenantKey, TenantGateway] = {}
        self._needed: Container[TenantKey] | None = None
        self._closing: set[asyncio.Task[None]] = set()
        if keys is not None:
            self._keep_needed(keys.holders())
            keys.on_change(self._keep_needed)

    @contextmanager
    def serving(self, caller: Caller) -> Iterator[TenantGateway]:
        """Give the gateway over the providers that ``caller`` may use, for one call.

        ``caller`` must have the right to ask; see ``door.callers.require_asking``.

        Raises:
            RelayRefused: ``provider_overloaded``: it cannot be opened now.
        """
        tenant = self._for_caller(caller)
        tenant.calls += 1
        try:
            yield tenant
        finally:
            tenant.calls -= 1
            self._close_if_over(tenant)

    def _for_caller(self, caller: Caller) -> TenantGateway:
        key = _key_of(caller)
        tenant = self._open.pop(key, None) or self._new(caller)
        if self._needed is not None and key not in self._needed:
            # The key was revoked after its caller had come in: this is its last call.
            tenant.dropped = True
            return tenant
        # The last place is that of the one asked last.
        self._open[key] = tenant
        if len(self._open) > self._most:
            self._drop(next(iter(self._open)))
        return tenant

    def _new(self, caller: Caller) -> TenantGateway:
        try:
            gateway = self._gateway(caller)
        except ConfigError as error:
            raise short_of_resources() from error
        return TenantGateway(gateway, McpFace(lambda: _server(gateway), self._mcp_hosts))

    def _gateway(self, caller: Caller) -> Gateway:
        # With authentication disabled, everyone is the operator.
        if self._operator is not None:
            return self._operator
        middleware = build_middleware(self._registry.loaded, self._registry.catalog)
        registry = OrgRegistry(self._registry, caller.org or "", caller.may_use)
        return Gateway.over(registry, middleware, self._cooldowns)

    def _keep_needed(self, callers: Iterable[Caller]) -> None:
        self._needed = needed = {_key_of(caller) for caller in callers}
        for key in self._open.keys() - needed:
            self._drop(key)

    def _drop(self, key: TenantKey) -> None:
        tenant = self._open.pop(key)
        tenant.dropped = True
        _log.debug("the gateway of %s is dropped; %d calls under way", key[1], tenant.calls)
        self._close_if_over(tenant)

    def _close_if_over(self, tenant: TenantGateway) -> None:
        if tenant.dropped and not tenant.calls:
            task = asyncio.get_running_loop().create_task(self._close(tenant))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def _close(self, tenant: TenantGateway) -> None:
        await tenant.mcp.aclose()
        _log.debug("a dropped gateway is closed")

    async def aclose(self) -> None:
        """Close what is open, and wait for what is being closed."""
        for tenant in self._open.values():
            await tenant.mcp.aclose()
        await self._cooldowns.aclose()
        if self._closing:
            await asyncio.wait(self._closing)


def _key_of(caller: Caller) -> TenantKey:
    return caller.kind, caller.org, caller.models, caller.providers


def _server(gateway: Gateway) -> "Server[Any]":
    from gateway_core.servers.mcp.server import build_server

    return build_server(gateway)


def parse_question(content: bytes, request_id: str) -> Any:
    """Return the JSON value of a decide request, under ``request_id`` unless it has its own.

    Raises:
        InvalidJson: it is no JSON, or not as strict as it has to be; see ``strict_json``.
    """
    question = read_json(content, "the body")
    return {"request_id": request_id, **question} if isinstance(question, dict) else question
