"""What known servers do apart from the format: where they live and how they fail."""

from urllib.parse import urlsplit

import attrs

from gateway_core import DecisionReply, Endpoint
from gateway_core.errors import (
    MalformedResponse,
    Overloaded,
    ProviderError,
    RateLimited,
    UpstreamRejected,
)
from s1gw_generic_systemone.server import Server

_KINDS = {400: UpstreamRejected, 503: Overloaded}


def rooted(endpoint: Endpoint, server: Server) -> Endpoint:
    """Complete a base URL that is a bare host; keep every path and prefix that is configured."""
    prefix = server.prefix if endpoint.prefix is None else endpoint.prefix
    base = endpoint.base_url
    if base and _is_bare(base):
        base = base.rstrip("/") + server.root
    return attrs.evolve(endpoint, base_url=base, prefix=prefix)


def _is_bare(base: str) -> bool:
    try:
        return not urlsplit(base).path.strip("/")
    except ValueError:
        # No URL at all, which is told when it is to be used.
        return False


def advised(error: RateLimited, server: Server) -> RateLimited | None:
    """Return ``error`` with ``x-should-retry`` if its code says whether waiting helps."""
    advice = dict.fromkeys(server.retryable_codes, "true")
    advice |= dict.fromkeys(server.final_codes, "false")
    if error.upstream_code not in advice:
        return None
    final = "; its quota is used up" if error.upstream_code in server.final_codes else ""
    return RateLimited(
        f"{error}{final}",
        status=error.status,
        headers={"x-should-retry": advice[error.upstream_code], **error.headers},
        upstream_message=error.upstream_message,
        upstream_code=error.upstream_code,
    )


def refuse_hidden_error(reply: DecisionReply, server: Server) -> None:
    """Raise the error that a server sent with HTTP 200, if it is one that does.

    Raises:
        ProviderError: the subclass that fits the status that the code stands for.
    """
    if not server.errors_in_success:
        return
    try:
        error = reply.json_object().get("error")
    except MalformedResponse:
        # Whether such a reply is good enough is for whoever reads it: a relay passes it on.
        return
    if error is None:
        return
    if not isinstance(error, dict):
        raise MalformedResponse("the server reported an error of unknown shape")
    code, message = str(error.get("code")), error.get("message")
    status = server.errors_in_success.get(code, 502)
    raise _KINDS.get(status, ProviderError)(
        "the server reported an error with HTTP 200",
        status=status,
        headers=reply.headers,
        upstream_message=message if isinstance(message, str) else None,
        upstream_code=code,
    )
