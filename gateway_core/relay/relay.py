"""The relay: the contract's checks in their order, one attempt, and the reply."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from time import perf_counter
from typing import Final

import msgspec

from gateway_core.config.model import MEBIBYTE
from gateway_core.errors import GatewayError, RelayRefused
from gateway_core.registry import Registry
from gateway_core.relay.attempt import attempt, upstream_request
from gateway_core.relay.body import DecisionBody, read_body
from gateway_core.relay.call import CallRecord, Headers, RelayReply, Route
from gateway_core.relay.callers import OPERATOR, Caller, CallerKind, bearer_token, customer_key
from gateway_core.relay.encoding import too_large
from gateway_core.relay.keys.store import KeyStore
from gateway_core.relay.large.intake import Intake
from gateway_core.relay.large.spool import SMALL
from gateway_core.relay.limits.admission import BoundTable
from gateway_core.relay.limits.limiter import Limiter
from gateway_core.relay.listing import list_models
from gateway_core.relay.pages import PageGuard
from gateway_core.relay.reading import Incoming
from gateway_core.relay.replies import JSON, refusal
from gateway_core.relay.routing import Router
from gateway_core.relay.targets import Target, shown
from gateway_core.secret import Secret
from gateway_core.types import DecisionRequest, Format

MAX_BODY_BYTES: Final = 32 * MEBIBYTE
_ENCODING: Final = b"content-encoding"
_MISMATCH: Final = (Route.SYSTEMONE, Format.OPENAI)


class Relay:
    """Everything between a request's headers and its reply."""

    def __init__(self, registry: Registry, keys: KeyStore | None, limiter: Limiter) -> None:
        """Relay for the configuration that ``registry`` was made of.

        Args:
            registry: the providers.
            keys: the gateway's keys; None when authentication is disabled.
            limiter: what counts requests.
        """
        self._config = registry.loaded.config
        self._keys = keys
        self._pages = PageGuard((self._config.http.host, *self._config.http.allowed_hosts))
        self._limiter = limiter
        self._bounds = BoundTable(self._config.orgs)
        self._router = Router(registry, self._config)
        self._timeout_s = self._config.http.timeout_s
        self._max_body = min(self._config.http.max_body_bytes, MAX_BODY_BYTES)
        self._intake = Intake(max(self._config.http.max_held_bytes, self._max_body))

    async def aclose(self) -> None:
        """End what was started for large bodies."""
        await self._intake.aclose()

    def prepare(self) -> None:
        """Build the providers of all organizations, before the first call.

        Raises:
            RelayRefused: that cannot be done now, for a shortage that may be over soon.
        """
        self._router.prepare()

    def authenticate(self, headers: Headers, client: str, record: CallRecord) -> Caller:
        """Say who calls from the address ``client``.

        Raises:
            RelayRefused: ``invalid_api_key``, or ``permission_denied`` for the address; without
                authentication, whatever a page of another site sent.
        """
        if self._keys is None:
            self._pages.check(headers)
            return OPERATOR
        token = bearer_token(headers)
        caller = self._keys.find(token)
        if caller is None:
            raise _unauthenticated(token)
        record.key, record.org = caller.key_id, caller.org
        if not caller.may_call_from(client):
            raise RelayRefused("permission_denied", "the key may not be used from this address")
        return caller

    def admitted(self, caller: Caller) -> AbstractAsyncContextManager[None]:
        """Return a block that counts a request against the limits of its key and organization.

        Entering it raises ``RelayRefused`` ``rate_limit_exceeded`` when one is reached.
        """
        bounds = caller.bounds
        if bounds is None:
            bounds = caller.bounds = self._bounds.of(caller)
        return self._limiter.admit(bounds)

    def reading(
        self,
        caller: Caller,
        headers: Headers,
        incoming: Incoming,
        record: CallRecord,
        limit: int = MAX_BODY_BYTES,
    ) -> AbstractAsyncContextManager[bytes]:
        """Return a block with a request's whole body, decoded, within the limit.

        Entering it raises ``RelayRefused``: ``request_too_large``,
        ``unsupported_content_encoding``, ``invalid_request`` or ``provider_overloaded``.
        """
        most = min(limit, self._max_body)
        return self._intake.whole(_tenant(caller), headers, incoming, most, record)

    async def decide(
        self,
        route: Route,
        headers: Headers,
        client: str,
        incoming: Incoming,
        record: CallRecord,
    ) -> RelayReply:
        """Relay one decision body; every refusal is a reply, and ``record`` is filled."""
        started = perf_counter()
        try:
            caller = self.authenticate(headers, client, record)
            key = customer_key(caller, headers)
            async with self.admitted(caller):
                content = None if _ENCODING in headers else incoming.take()
                if content is None or len(content) > SMALL:
                    left = _Taken(content, incoming)
                    reply = await self._relay_slowly(
                        left, route, caller, key, headers, record=record
                    )
                else:
                    record.bytes_in = len(content)
                    if len(content) > self._max_body:
                        raise too_large()
                    body = read_body(content, headers.get(b"content-type", b"").decode("latin-1"))
                    # What was read is not kept: the attempt may be long.
                    del content
                    target, request = self._prepared(
                        body, route, caller, key, headers, record=record
                    )
                    del body
                    reply = await attempt(target, request, timeout_s=self._timeout_s, record=record)
        except GatewayError as error:
            return refusal(error, record)
        latency_ms = 1000 * (perf_counter() - started)
        reply.headers.append((b"x-s1gw-latency-ms", b"%.1f" % latency_ms))
        return reply

    async def models(self, headers: Headers, client: str, record: CallRecord) -> RelayReply:
        """Answer ``GET /v1/decisions/models``."""
        try:
            caller = self.authenticate(headers, client, record)
            if caller.kind is not CallerKind.INTERNAL:
                customer_key(caller, headers)
            async with self.admitted(caller):
                listing = await list_models(self._router.table(caller), caller)
        except GatewayError as error:
            return refusal(error, record)
        content = msgspec.json.encode(listing)
        own_id = (b"x-request-id", record.request_id.encode())
        return RelayReply(status=200, headers=[JSON, own_id], body=content)

    async def _relay_slowly(
        self,
        incoming: Incoming,
        route: Route,
        caller: Caller,
        key: Secret | None,
        headers: Headers,
        *,
        record: CallRecord,
    ) -> RelayReply:
        """Relay a body that is large, encoded or still coming in."""
        taken = self._intake.decision(_tenant(caller), headers, incoming, self._max_body, record)
        async with taken as body:
            target, request = self._prepared(body, route, caller, key, headers, record=record)
            return await attempt(target, request, timeout_s=self._timeout_s, record=record)

    def _prepared(
        self,
        body: DecisionBody,
        route: Route,
        caller: Caller,
        key: Secret | None,
        headers: Headers,
        *,
        record: CallRecord,
    ) -> tuple[Target, DecisionRequest]:
        """Return whom a body goes to, and what goes there.

        Raises:
            RelayRefused: the body, the model or the provider does not fit.
        """
        record.model = shown(body.model)
        if (route, body.format) == _MISMATCH:
            raise RelayRefused(
                "format_mismatch",
                "this route takes System One bodies, whose questions are an object; send OpenAI"
                " Decisions bodies to /v1/decisions",
                "questions",
            )
        target = self._router.target(caller, body.model, body.format, key)
        return target, upstream_request(target, body, key, headers, record.request_id)


class _Taken:
    """A body of which the whole was taken already, if it was there."""

    def __init__(self, content: bytes | None, rest: Incoming) -> None:
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


def _unauthenticated(token: str) -> RelayRefused:
    message = (
        "the API key is unknown, expired or revoked"
        if token
        else "send the gateway's API key as Authorization: Bearer, or in x-api-key"
    )
    return RelayRefused("invalid_api_key", message, headers={"www-authenticate": "Bearer"})
