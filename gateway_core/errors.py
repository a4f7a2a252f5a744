"""Every error of the gateway, in one tree.

    GatewayError
    ├── InvalidRequest              the caller's request is at fault; names the field
    │   └── InvalidJson             a text is no JSON, or not as strict as it has to be
    ├── ConfigError                 the configuration is at fault; lists every fault
    │   ├── PluginUnavailable       a dialect or middleware that cannot be used, and why
    │   ├── WrongApiFormat          a provider's api_format is not one that its dialect speaks
    │   ├── EndpointUnusable        a provider's base URL, prefix or models make no usable URL
    │   └── CredentialUnusable      a provider's api_key names no credential that can be sent
    ├── RelayRefused                the relay turned a call away before any provider saw it
    ├── MiddlewareFailed            a decision middleware raised, or returned nonsense
    │   └── MiddlewareTimeout       it was not done by the deadline
    └── ProviderError               a provider could not answer; what a plugin may raise
        ├── ProviderTimeout         no answer in time
        ├── ProviderUnreachable     no connection, or it broke
        ├── ShortOfResources        this process has no descriptor or memory left to ask it
        ├── ProviderCrashed         a plugin raised something else (raised by the host only)
        ├── DestinationBlocked      the URL's host violates the destination policy
        ├── DestinationUnusable     the URL is invalid, or its host cannot be resolved
        ├── MalformedResponse       an answer that is not what the format promises
        ├── KeyMissing              no credential is configured where one is needed
        ├── KeyRejected             401 or 403
        ├── PaymentRequired         402
        ├── ModelNotFound           404
        ├── RequestTooLarge         413, or over the provider's declared limits
        ├── RateLimited             429
        ├── Overloaded              503 or 529
        └── UpstreamRejected        400 or 422

No error's text holds a credential, a request or reply body, or a resolved address. What an
upstream said about a refusal travels apart, in ``ProviderError.upstream_message``, and is
sanitised before a caller sees it.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Final

from gateway_core.causes import Cause

_NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})


class GatewayError(Exception):
    """Any failure that the gateway reports.

    Attributes:
        code: the error code of the decide contract that this kind of failure has.
    """

    code: ClassVar[str] = "provider_error"


class InvalidRequest(GatewayError):
    """The caller's request breaks a rule; ``field`` names where."""

    code = "invalid_request"

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class InvalidJson(InvalidRequest):
    """A text is no JSON, or not as strict as it has to be; ``field`` is a key that is repeated."""


class ConfigError(GatewayError):
    """The configuration cannot be used as it stands.

    Attributes:
        faults: one line per fault, each with its path and the way out.
    """

    code = "config_error"

    def __init__(self, *faults: str) -> None:
        super().__init__("; ".join(faults))
        self.faults: Sequence[str] = faults

    def with_path_prefix(self, path: str) -> "ConfigError":
        """Return this error with the path of the table at fault before each of its lines.

        Args:
            path: such as ``providers.laya``; a line that begins with it stays as it is.
        """
        own = (f"{path}.", f"{path}:")
        lines = (text if text.startswith(own) else f"{path}: {text}" for text in self.faults)
        return type(self)(*lines)


class PluginUnavailable(ConfigError):
    """A plugin is missing, broken, disabled, in conflict or incompatible."""


class WrongApiFormat(ConfigError):
    """A provider's ``api_format`` is not one that its dialect speaks."""


class EndpointUnusable(ConfigError):
    """A provider's base URL, prefix or models make no URL that can be asked."""


class CredentialUnusable(ConfigError):
    """A provider's ``api_key`` names no credential, or one that cannot be sent."""


class RelayRefused(GatewayError):
    """The relay refused a call without asking a provider.

    Attributes:
        reason: the code of the HTTP error envelope, such as ``format_mismatch``.
        field: the part of the request at fault, if there is one.
        headers: what the refusal carries beside the envelope, such as ``retry-after``.
    """

    code = "invalid_request"

    def __init__(
        self,
        reason: str,
        message: str,
        field: str | None = None,
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.field = field
        self.headers = headers


class MiddlewareFailed(GatewayError):
    """A decision middleware raised, or returned what is no answer to the call."""


class MiddlewareTimeout(MiddlewareFailed):
    """The deadline passed while a decision middleware was at work."""

    code = "provider_timeout"


class ProviderError(GatewayError):
    """A provider refused or could not answer.

    Attributes:
        status: the upstream's HTTP status, if there was one.
        headers: the upstream's reply headers, lower-case names.
        upstream_message: what the upstream said, unsanitised; never part of ``str(error)``.
        upstream_code: the upstream's own word for the kind of failure, such as
            ``authentication_error`` or ``4006``, by which a plugin tells failures apart.
        upstream_param: the part of the request that the upstream names, unsanitised.
        cause: why, as the operator's log says it.
        shown_message: what a caller may see of ``upstream_message``; set by whoever knows what
            was sent.
    """

    code = "provider_error"
    usual_cause: ClassVar[Cause | None] = None

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        headers: Mapping[str, str] = _NO_HEADERS,
        upstream_message: str | None = None,
        upstream_code: str | None = None,
        upstream_param: str | None = None,
        cause: Cause | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers
        self.upstream_message = upstream_message
        self.upstream_code = upstream_code
        self.upstream_param = upstream_param
        self.cause = cause or self._usual_cause(status)
        self.shown_message: str | None = None

    def _usual_cause(self, status: int | None) -> Cause | None:
        if status is None or 200 <= status < 300:
            return self.usual_cause
        return Cause.REDIRECT if 300 <= status < 400 else Cause.STATUS

    @property
    def retry_after(self) -> str | None:
        """``Retry-After`` as the upstream sent it: seconds or an HTTP date."""
        return self.headers.get("retry-after")


class ProviderTimeout(ProviderError):
    """No answer in time: our own limit, or an upstream's 408 or 504."""

    code = "provider_timeout"
    usual_cause = Cause.READ_TIMEOUT


class ProviderUnreachable(ProviderError):
    """No connection could be made, or it broke before the answer was whole."""

    usual_cause = Cause.UNREACHABLE


class ShortOfResources(ProviderError):
    """The gateway is short of descriptors or memory, which may soon be over; nobody was asked."""

    usual_cause = Cause.SHORTAGE

    def __init__(self) -> None:
        super().__init__(
            "the gateway is short of descriptors or memory", headers={"retry-after": "1"}
        )


class ProviderCrashed(ProviderError):
    """A plugin raised something that is not a ``ProviderError``."""

    usual_cause = Cause.PLUGIN


class DestinationBlocked(ProviderError):
    """The destination policy forbids the host that the URL names."""

    usual_cause = Cause.DESTINATION


class DestinationUnusable(ProviderError):
    """The URL is invalid, or its host cannot be resolved."""

    usual_cause = Cause.DESTINATION


class MalformedResponse(ProviderError):
    """The provider answered, but not with what its format promises."""

    code = "malformed_response"
    usual_cause = Cause.BAD_ANSWER


class KeyMissing(ProviderError):
    """A credential is needed and none is configured."""


class KeyRejected(ProviderError):
    """The upstream did not accept the credential."""


class PaymentRequired(ProviderError):
    """The account that owns the credential needs payment."""


class ModelNotFound(ProviderError):
    """The upstream does not serve the model."""


class RequestTooLarge(ProviderError):
    """The request is over the upstream's or the provider's limits."""


class RateLimited(ProviderError):
    """The upstream's rate limit is reached."""


class Overloaded(ProviderError):
    """The upstream has no capacity now."""


class UpstreamRejected(ProviderError):
    """The upstream found the request itself at fault."""
