"""The relay: the contract's checks in their order, one attempt, and the reply."""

from collections.abc import AsyncIterable
from contextlib import AbstractAsyncContextManager

from gateway_core.errors import GatewayError
from gateway_core.relay.call import CallRecord, Headers, RelayReply, Route
from gateway_core.relay.callers import Caller


class Relay:
    """Everything between a request's headers and its reply."""

    def authenticate(self, headers: Headers, client: str, record: CallRecord) -> Caller:
        """Say who calls from the address ``client``.

        Raises:
            RelayRefused: ``invalid_api_key``, or ``permission_denied`` for the address.
        """
        raise NotImplementedError

    def admitted(self, caller: Caller) -> AbstractAsyncContextManager[None]:
        """Count a request against the limits of its key and organization, while it runs.

        Raises:
            RelayRefused: ``rate_limit_exceeded``.
        """
        raise NotImplementedError

    async def decide(
        self,
        route: Route,
        headers: Headers,
        client: str,
        chunks: AsyncIterable[bytes],
        record: CallRecord,
    ) -> RelayReply:
        """Relay one decision body; every refusal is a reply, and ``record`` is filled."""
        raise NotImplementedError

    async def models(self, headers: Headers, client: str, record: CallRecord) -> RelayReply:
        """Answer ``GET /v1/decisions/models``."""
        raise NotImplementedError

    def refusal(self, error: GatewayError, record: CallRecord) -> RelayReply:
        """Return the reply for any error of the gateway: envelope, status and headers."""
        raise NotImplementedError
