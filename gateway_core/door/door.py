"""What every HTTP caller passes, whatever the route."""

from contextlib import AbstractAsyncContextManager

from gateway_core.config.model import Config
from gateway_core.door.access import AccessEntry
from gateway_core.door.browsers import PageGuard
from gateway_core.door.callers import OPERATOR, Caller, bearer_token
from gateway_core.door.keys.store import KeyStore
from gateway_core.door.limits.admission import BoundTable
from gateway_core.door.limits.counting import Bound
from gateway_core.door.limits.limiter import Limiter
from gateway_core.errors import RelayRefused
from gateway_core.http1.messages import Headers


class Door:
    """Says who calls, and counts the call against its limits."""

    def __init__(
        self,
        config: Config,
        keys: KeyStore | None,
        limiter: Limiter,
        bounds: dict[str, Bound] | None = None,
    ) -> None:
        """Guard the gateway of one configuration.

        Args:
            config: the configuration.
            keys: the gateway's keys; None when authentication is disabled.
            limiter: what counts requests.
            bounds: what has been counted before, by name; bounds that are new are added.
        """
        self._keys = keys
        self._pages = PageGuard((config.http.host, *config.http.allowed_hosts))
        self._limiter = limiter
        self._bounds = BoundTable(config.orgs, bounds)

    def authenticate(self, headers: Headers, client: str, access: AccessEntry) -> Caller:
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
        access.key, access.org = caller.key_id, caller.org
        if not caller.may_call_from(client):
            raise RelayRefused("permission_denied", "the key may not be used from this address")
        return caller

    @property
    def refuses_limits(self) -> bool:
        """Whether every request that has a limit is refused now, as far as is known."""
        return self._limiter.refuses

    def admitted(self, caller: Caller) -> AbstractAsyncContextManager[None]:
        """Return a block that counts a request against the limits of its key and organization.

        Entering it raises ``RelayRefused`` ``rate_limit_exceeded`` when one is reached.
        """
        bounds = caller.bounds
        if bounds is None:
            bounds = caller.bounds = self._bounds.of(caller)
        return self._limiter.admit(bounds)


def _unauthenticated(token: str) -> RelayRefused:
    message = (
        "the API key is unknown, expired or revoked"
        if token
        else "send the gateway's API key as Authorization: Bearer, or in x-api-key"
    )
    return RelayRefused("invalid_api_key", message, headers={"www-authenticate": "Bearer"})
