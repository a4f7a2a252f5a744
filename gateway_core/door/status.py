"""From an error to the status, the code and the sentence that a caller gets: one table."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from gateway_core.errors import (
    ConfigError,
    CredentialUnusable,
    DestinationBlocked,
    DestinationUnusable,
    EndpointUnusable,
    GatewayError,
    InvalidRequest,
    KeyMissing,
    KeyRejected,
    MalformedResponse,
    ModelNotFound,
    Overloaded,
    PaymentRequired,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    RelayRefused,
    RequestTooLarge,
    ShortOfResources,
    UpstreamRejected,
    WrongApiFormat,
)


class ErrorReply(NamedTuple):
    """What a caller is told of an error; no sentence for one that words it itself."""

    status: int
    code: str
    sentence: str = ""


REFUSALS: Final[Mapping[str, int]] = {
    "invalid_request": 400,
    "provider_key_header_not_allowed": 400,
    "invalid_api_key": 401,
    "byok_required": 403,
    "permission_denied": 403,
    "origin_not_allowed": 403,
    "decision_provider_not_configured": 403,
    "decision_provider_wrong_format": 403,
    "provider_key_missing": 403,
    "request_timeout": 408,
    "request_too_large": 413,
    "unsupported_content_encoding": 415,
    "host_not_allowed": 421,
    "format_mismatch": 422,
    "rate_limit_exceeded": 429,
    "limits_unavailable": 503,
    "provider_overloaded": 503,
}
SERVER_REFUSALS: Final[Mapping[str, int]] = {
    "chat_not_supported": 400,
    "not_found": 404,
    "method_not_allowed": 405,
    "not_acceptable": 406,
    "request_headers_too_large": 431,
    "internal_error": 500,
    "not_ready": 503,
}
"""What the HTTP server answers by itself, beside what it shares with the relay."""
ERRORS: Final[Mapping[type[GatewayError], ErrorReply]] = {
    InvalidRequest: ErrorReply(400, "invalid_request"),
    ConfigError: ErrorReply(
        403, "decision_provider_not_configured", "the provider cannot be used as it is configured"
    ),
    WrongApiFormat: ErrorReply(
        403,
        "decision_provider_wrong_format",
        "the provider's api_format is not the format that its vendor speaks",
    ),
    CredentialUnusable: ErrorReply(
        403, "provider_key_missing", "the provider needs an API key; save one on it"
    ),
    EndpointUnusable: ErrorReply(
        502,
        "provider_base_url_unusable",
        "the provider's URL is invalid, or its host cannot be resolved",
    ),
    ProviderError: ErrorReply(502, "upstream_error", "the upstream failed or cannot be reached"),
    ShortOfResources: ErrorReply(
        503, "provider_overloaded", "the gateway is short of descriptors or memory"
    ),
    ProviderTimeout: ErrorReply(504, "gateway_timeout", "the upstream did not answer in time"),
    DestinationBlocked: ErrorReply(
        403, "provider_base_url_blocked", "the provider's URL violates the destination policy"
    ),
    DestinationUnusable: ErrorReply(
        502,
        "provider_base_url_unusable",
        "the provider's URL is invalid, or its host cannot be resolved",
    ),
    MalformedResponse: ErrorReply(
        502, "upstream_invalid_response", "the upstream's reply is not a usable JSON object"
    ),
    KeyMissing: ErrorReply(
        403, "provider_key_missing", "the provider needs an API key; save one on it"
    ),
    KeyRejected: ErrorReply(
        403, "provider_key_rejected", "the upstream did not accept the provider's API key"
    ),
    PaymentRequired: ErrorReply(
        402, "provider_payment_required", "the account of the provider's API key needs payment"
    ),
    ModelNotFound: ErrorReply(404, "model_not_found", "the upstream does not serve this model"),
    RequestTooLarge: ErrorReply(
        413, "request_too_large", "the request is too large for the upstream"
    ),
    RateLimited: ErrorReply(429, "rate_limit_exceeded", "the upstream's rate limit is reached"),
    Overloaded: ErrorReply(503, "provider_overloaded", "the provider has no capacity now"),
    UpstreamRejected: ErrorReply(400, "upstream_rejected", "the upstream rejected the request"),
}
_UNKNOWN: Final = ErrorReply(500, "internal_error", "the gateway failed")
_TYPES: Final[Mapping[int, str]] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
}


def error_reply(error: GatewayError) -> ErrorReply:
    """Return what a caller is told of ``error``; a subclass is told as its nearest parent."""
    if isinstance(error, RelayRefused):
        return ErrorReply(REFUSALS.get(error.reason, 400), error.reason, str(error))
    if isinstance(error, KeyMissing) and error.status is not None:
        # The gateway did send a key: the upstream did not take it, whatever it calls that.
        return ERRORS[KeyRejected]
    kinds = (ERRORS[kind] for kind in type(error).__mro__ if kind in ERRORS)
    reply = next(kinds, _UNKNOWN)
    if isinstance(error, UpstreamRejected) and error.status == 422:
        return reply._replace(status=422)
    return reply if reply.sentence else reply._replace(sentence=str(error))


def error_type(status: int) -> str:
    """Return the ``type`` of the envelope, which client libraries group errors by."""
    return _TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")
