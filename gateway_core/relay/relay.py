# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""The relay: the contract's checks in their order, one attempt, and the reply."""

from time import perf_counter
from typing import Final

import msgspec

from gateway_core.door.access import AccessEntry
from gateway_core.door.bodies import Incoming
from gateway_core.door.callers import Caller, customer_key, require_listing
from gateway_core.door.door import Door
from gateway_core.door.refusals import JSON, refusal
from gateway_core.door.request_ids import own_ids
from gateway_core.errors import GatewayError, RelayRefused
from gateway_core.http1.messages import Headers, HttpReply
from gateway_core.registry import Registry
from gateway_core.relay.attempt import attempt, upstream_request
from gateway_core.relay.body import read_body
from gateway_core.relay.listing import list_models, names
from gateway_core.relay.route import RelayRoute
from gateway_core.relay.routing import Router
from gateway_core.relay.targets import Target, shown
from gateway_core.secret import Secret
from gateway_core.types import DecisionRequest, Format

_MISMATCH: Final = (RelayRoute.SYSTEMONE, Format.OPENAI)


class Relay:
    """Everything between a request's headers and its reply: door, target, attempt, reply."""

    def __init__(self, registry: Registry, door: Door) -> None:
        """Relay for the configuration that ``registry`` was made of.

        Args:
            registry: the providers.
            door: what every caller passes first.
        """
        config = registry.loaded.config
        self._door = door
        self._router = Router(registry, config)
        self._timeout_s = config.http.timeout_s

    def prepare(self) -> None:
        """Build the providers of all organizations, before the first call.

        Raises:
            RelayRefused: that cannot be done now, for a shortage that may be over soon.
        """
        self._router.prepare()

    async def decide(
        self,
        route: RelayRoute,
        headers: Headers,
        client: str,
        incoming: Incoming,
        access: AccessEntry,
    ) -> HttpReply:
        """Relay one decision body; every refusal is a reply, and ``access`` is filled."""
        started = perf_counter()
        try:
            caller = self._door.authenticate(headers, client, access)
            key = customer_key(caller, headers)
            async with self._door.admitted(caller):
                # What was read is not kept here: it may be large, and the attempt may be long.
                target, request = self._prepared(
                    await self._door.read(headers, incoming, access),
                    route,
                    caller,
                    key,
                    headers,
                    access=access,
                )
                reply = await attempt(target, request, timeout_s=self._timeout_s, access=access)
        except GatewayError as error:
            return refusal(error, access)
        latency_ms = 1000 * (perf_counter() - started)
        reply.headers.append((b"x-s1gw-latency-ms", b"%.1f" % latency_ms))
        return reply

    async def models(
        self, headers: Headers, client: str, access: AccessEntry, *, with_names: bool = False
    ) -> HttpReply:
        """List the models that a caller may name, in the form of OpenAI.

        Args:
            headers: the request's.
            client: the address that it comes from.
            access: what is noted of it.
            with_names: whether to list them in the form of System One as well.
        """
        try:
            caller = self._door.authenticate(headers, client, access)
            require_listing(caller, headers)
            async with self._door.admitted(caller):
                listing = await list_models(self._router.table(caller), caller)
        except GatewayError as error:
            return refusal(error, access)
        if with_names:
            listing["models"] = names(listing["data"])
        headers_out = [JSON, *own_ids(access.request_id)]
        return HttpReply(status=200, headers=headers_out, body=msgspec.json.encode(listing))

    def _prepared(
        self,
        content: bytes,
        route: RelayRoute,
        caller: Caller,
        key: Secret | None,
        headers: Headers,
        *,
        access: AccessEntry,
    ) -> tuple[Target, DecisionRequest]:
        """Return whom a body goes to, and what goes there.

        Raises:
            RelayRefused: the body, the model or the provider does not fit.
        """
        body = read_body(content, headers.get(b"content-type", b"").decode("latin-1"))
        access.model = shown(body.model)
        if (route, body.format) == _MISMATCH:
            raise RelayRefused(
                "format_mismatch",
                "this route takes System One bodies, whose questions are an object; send OpenAI"
                " Decisions bodies to /v1/decisions",
                "questions",
            )
        target = self._router.target(caller, body.model, body.format, key)
        return target, upstream_request(target, body, key, headers, access.request_id)
