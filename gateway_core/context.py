"""What the host hands to one provider when it builds it."""

from collections.abc import Coroutine, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

import attrs

from gateway_core.errors import KeyMissing
from gateway_core.secret import Secret
from gateway_core.types import DecisionReply, DecisionRequest
from gateway_core.urls import endpoint_url, is_loopback_url, site_url

if TYPE_CHECKING:
    import httpx

SettingsT = TypeVar("SettingsT")
_EMPTY: Final[Mapping[str, str]] = MappingProxyType({})
JSON: Final = "application/json"


class Sender(Protocol):
    """The host's way out: policy, proxies, timeouts, caps and the mapping of statuses."""

    async def send(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes
    ) -> DecisionReply:
        """Make one attempt; return a 2xx reply, raise a ``ProviderError`` for the rest."""
        ...

    def client(self) -> "httpx.AsyncClient":
        """Return an ``httpx`` client over the same way out."""
        ...


@attrs.frozen(kw_only=True)
class Endpoint:
    """Where a configured provider lives and how it is reached; the same keys for all.

    Attributes:
        base_url: the base that paths are joined to; None for a provider in process.
        prefix: the API prefix; None means ``/v1``, an empty string means none.
        api_key: the configured credential.
        models: the models it is configured to serve, in order.
        headers: extra headers for every request.
        timeout_s: the time one attempt may take, in seconds; None for the caller's own.
        max_concurrency: the most requests under way at once; None for no bound.
    """

    base_url: str | None = None
    prefix: str | None = None
    api_key: Secret | None = None
    models: tuple[str, ...] = ()
    headers: Mapping[str, str | Secret] = attrs.field(factory=dict)
    timeout_s: float | None = None
    max_concurrency: int | None = None


@attrs.define(eq=False, kw_only=True)
class ProviderContext(Generic[SettingsT]):
    """One provider's name, endpoint, settings and way out.

    Attributes:
        name: the provider's name in the configuration, which errors and replies show.
        dialect: the entry point's name.
        endpoint: the common keys of its configuration table.
        settings: its own keys, structured into the plugin's ``settings_class``.
        sender: the host's way out; use ``forward``, ``post``, ``get`` and ``http`` instead.
    """

    name: str
    dialect: str
    endpoint: Endpoint
    settings: SettingsT
    sender: Sender = attrs.field(repr=False)
    _client: "httpx.AsyncClient | None" = attrs.field(default=None, init=False, repr=False)

    def url(self, path: str) -> str:
        """Return the endpoint's URL for ``path``, such as ``/v1/systemone``.

        Raises:
            DestinationUnusable: there is no base URL, or it is not one.
        """
        return endpoint_url(self.endpoint.base_url, self.endpoint.prefix, path)

    def site_url(self, path: str) -> str:
        """Return the URL for a ``path`` outside the API prefix, such as ``/health``."""
        return site_url(self.endpoint.base_url, self.endpoint.prefix, path)

    @property
    def on_this_machine(self) -> bool:
        """Whether the base URL names the loopback interface: nothing leaves the machine."""
        return is_loopback_url(self.endpoint.base_url)

    def api_key(self, request: DecisionRequest | None = None) -> Secret | None:
        """Return the credential to use: the one that came for this call, else the configured."""
        if request is not None and request.api_key is not None:
            return request.api_key
        return self.endpoint.api_key

    def required_api_key(self, request: DecisionRequest | None = None) -> Secret:
        """Return the credential to use, for a provider that is nothing without one.

        Raises:
            KeyMissing: neither the call nor the configuration brings one.
        """
        key = self.api_key(request)
        if key is None:
            raise KeyMissing(f"provider {self.name!r} has no api_key")
        return key

    def forward(
        self, request: DecisionRequest, url: str, *, headers: Mapping[str, str] = _EMPTY
    ) -> Coroutine[Any, Any, DecisionReply]:
        """Pass ``request`` on as it came, the way ``post`` sends: body, content type and headers.

        Args:
            request: what to pass on.
            url: where to.
            headers: more headers, such as those that authenticate; they go over the request's.

        Raises:
            ProviderError: the subclass that fits the status or the failure.
        """
        merged = {**request.headers, **headers}
        return self.post(url, request.body, headers=merged, content_type=request.content_type)

    def post(
        self,
        url: str,
        body: bytes,
        *,
        headers: Mapping[str, str] = _EMPTY,
        content_type: str = JSON,
    ) -> Coroutine[Any, Any, DecisionReply]:
        """Send ``body`` once and return the 2xx reply: the fast, safe way out.

        No redirect is followed, nothing is retried, the decoded reply is capped at 10 MiB.

        Raises:
            ProviderError: the subclass that fits the status or the failure.
        """
        merged = {"content-type": content_type, "accept": JSON, **headers}
        return self.sender.send("POST", url, headers=merged, body=body)

    def get(
        self, url: str, *, headers: Mapping[str, str] = _EMPTY
    ) -> Coroutine[Any, Any, DecisionReply]:
        """Fetch ``url`` once, under the same rules as ``post``."""
        return self.sender.send("GET", url, headers={"accept": JSON, **headers}, body=b"")

    @property
    def http(self) -> "httpx.AsyncClient":
        """An ``httpx`` client over the same way out, for what ``post`` and ``get`` cannot do."""
        if self._client is None:
            self._client = self.sender.client()
        return self._client


def bearer(key: Secret | None) -> dict[str, str]:
    """Return the ``authorization`` header for ``key``; nothing at all without one."""
    return {} if key is None else {"authorization": f"Bearer {key.reveal()}"}
