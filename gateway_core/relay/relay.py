# Compiled with mypyc; CONTRIBUTING.md, "The hot path", says what that asks of this file.
"""The relay: the contract's checks in their order, one attempt, and the reply."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from time import perf_counter
from typing import Final

import msgspec

from gateway_core.config.model import MEBIBYTE
from gateway_core.door.access import AccessEntry
<<<<<<< HEAD
from gateway_core.door.bodies import BodyLimit, IncomingBody
=======
from gateway_core.door.bodies import BodyLimit, Incoming
>>>>>>> breaker
from gateway_core.door.callers import Caller, customer_key, require_listing
from gateway_core.door.door import Door
from gateway_core.door.refusals import JSON, refusal
from gateway_core.door.request_ids import own_ids
from gateway_core.errors import GatewayError, RelayRefused
from gateway_core.http1.messages import Headers, HttpReply
from gateway_core.registry import Registry
from gateway_core.relay.attempt import make_attempt, upstream_request
from gateway_core.relay.body import DecisionBody, read_body
from gateway_core.relay.large.intake import Intake
from gateway_core.relay.large.spool import SMALL
from gateway_core.relay.listing import list_models, names
from gateway_core.relay.route import RelayRoute
from gateway_core.relay.routing import Router
from gateway_core.relay.targets import RelayTarget, loggable_model
from gateway_core.secret import Secret
from gateway_core.types import DecisionRequest, Format

_MISMATCH: Final = (RelayRoute.SYSTEMONE, Format.OPENAI)
_ENCODING: Final = b"content-encoding"
_MAX_BODY_BYTES: Final = 32 * MEBIBYTE


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
        self._limit = BodyLimit(min(config.http.max_body_bytes, _MAX_BODY_BYTES))
<<<<<<< HEAD
        self._small = min(SMALL, self._limit.most)
=======
        # Up to this size a body that came whole is read at once; what is larger may be too large.
        self._at_once = min(SMALL, self._limit.most)
>>>>>>> breaker
        self._intake = Intake(max(config.http.max_held_bytes, self._limit.most))

    async def aclose(self) -> None:
        """End what was started for large bodies."""
        await self._intake.aclose()

    def prepare(self) -> None:
        """Build the providers of all organizations, before the first call.

        Raises:
            RelayRefused: that cannot be done now, for a shortage that may be over soon.
        """
        self._router.prepare()

    def reading(
        self,
        caller: Caller,
        headers: Headers,
        incoming: IncomingBody,
        access: AccessEntry,
        limit: BodyLimit,
    ) -> AbstractAsyncContextManager[bytes]:
        """Return a block with a request's whole body, decoded, within the limit.

        Entering it raises ``RelayRefused``: ``request_too_large``,
        ``unsupported_content_encoding``, ``invalid_request`` or ``provider_overloaded``.
        """
        least = min(limit, self._limit, key=lambda one: one.most)
        return self._intake.whole(_tenant(caller), headers, incoming, least, access)

    async def decide(
        self,
        route: RelayRoute,
        headers: Headers,
        client: str,
        incoming: IncomingBody,
        access: AccessEntry,
    ) -> HttpReply:
        """Relay one decision body; every refusal is a reply, and ``access`` is filled."""
        started = perf_counter()
        try:
            caller = self._door.authenticate(headers, client, access)
            key = customer_key(caller, headers)
            async with self._door.admitted(caller):
                content = None if _ENCODING in headers else incoming.take()
<<<<<<< HEAD
                if content is None or len(content) > self._small:
=======
                if content is None or len(content) > self._at_once:
>>>>>>> breaker
                    left = _Taken(content, incoming)
                    reply = await self._relay_slowly(
                        left, route, caller, key, headers, access=access
                    )
                else:
                    access.bytes_in = len(content)
                    body = read_body(content, headers.get(b"content-type", b"").decode("latin-1"))
                    # What was read is not kept: the attempt may be long.
                    del content
                    target, request = self._prepared(
                        body, route, caller, key, headers, access=access
                    )
                    del body
                    reply = await make_attempt(
                        target, request, timeout_s=self._timeout_s, access=access
                    )
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

    async def _relay_slowly(
        self,
        incoming: IncomingBody,
        route: RelayRoute,
        caller: Caller,
        key: Secret | None,
        headers: Headers,
        *,
        access: AccessEntry,
    ) -> HttpReply:
        """Relay a body that is large, encoded or still coming in."""
        taken = self._intake.decision(_tenant(caller), headers, incoming, self._limit, access)
        async with taken as body:
            target, request = self._prepared(body, route, caller, key, headers, access=access)
            return await make_attempt(target, request, timeout_s=self._timeout_s, access=access)

    def _prepared(
        self,
        body: DecisionBody,
        route: RelayRoute,
        caller: Caller,
        key: Secret | None,
        headers: Headers,
        *,
        access: AccessEntry,
    ) -> tuple[RelayTarget, DecisionRequest]:
        """Return whom a body goes to, and what goes there.

        Raises:
            RelayRefused: the body, the model or the provider does not fit.
        """
        access.model = loggable_model(body.model)
        if (route, body.format) == _MISMATCH:
            raise RelayRefused(
                "format_mismatch",
                "this route takes System One bodies, whose questions are an object; send OpenAI"
                " Decisions bodies to /v1/decisions",
                "questions",
            )
        target = self._router.target(caller, body.model, body.format, key)
        return target, upstream_request(target, body, key, headers, access.request_id)


class _Taken:
    """A body of which the whole was taken already, if it was there."""

    def __init__(self, content: bytes | None, rest: IncomingBody) -> None:
        self._content = content
        self._rest = rest

    def take(self) -> bytes | None:
        return None

    async def more(self) -> Sequence[bytes]:
        if self._content is not None:
            content, self._content = self._content, None
            return [content]
        return await self._rest.more()


def _tenant(caller: Caller) -> str:
    return caller.org or caller.key_id
