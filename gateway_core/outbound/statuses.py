"""From an upstream's status to the error that it means: one table."""

from typing import Final

from gateway_core.errors import (
    KeyRejected,
    ModelNotFound,
    Overloaded,
    PaymentRequired,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    RequestTooLarge,
    UpstreamRejected,
)
from gateway_core.outbound.messages import upstream_code, upstream_message, upstream_param
from gateway_core.types import DecisionReply

ERRORS: Final[dict[int, tuple[type[ProviderError], str]]] = {
    400: (UpstreamRejected, "the upstream rejected the request"),
    401: (KeyRejected, "the upstream did not accept the credential"),
    402: (PaymentRequired, "the upstream asks for payment"),
    403: (KeyRejected, "the upstream did not accept the credential"),
    404: (ModelNotFound, "the upstream does not serve this model at this URL"),
    408: (ProviderTimeout, "the upstream ran out of time"),
    413: (RequestTooLarge, "the request is too large for the upstream"),
    422: (UpstreamRejected, "the upstream rejected the request"),
    429: (RateLimited, "the upstream's rate limit is reached"),
    503: (Overloaded, "the upstream is overloaded"),
    504: (ProviderTimeout, "the upstream ran out of time"),
    529: (Overloaded, "the upstream is overloaded"),
}


def status_error(reply: DecisionReply) -> ProviderError:
    """Return the error that a reply other than 2xx means, with what the upstream said."""
    kind, sentence = ERRORS.get(reply.status, (ProviderError, "the upstream failed"))
    if 300 <= reply.status < 400:
        sentence = "upstream redirected"
    return kind(
        f"{sentence} (HTTP {reply.status})",
        status=reply.status,
        headers=reply.headers,
        upstream_message=upstream_message(reply.body),
        upstream_code=upstream_code(reply.body),
        upstream_param=upstream_param(reply.body),
    )
