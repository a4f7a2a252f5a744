"""What the server knows of one of its routes."""

import attrs

from gateway_core.servers.http.handlers import RouteHandler


@attrs.frozen(kw_only=True)
class HttpRoute:
    """One method of one path.

    Attributes:
        handler: what answers it.
        summary: one sentence, for the OpenAPI document.
        request: the name of its body's schema, if it takes one.
        response: the name of its reply's schema.
        refusal: the name of the schema of its refusals.
        errors: the statuses of its refusals.
        open: whether it is served without authentication.
    """

    method: str
    path: str
    handler: RouteHandler
    summary: str
    response: str
    refusal: str = "Error"
    request: str | None = None
    errors: tuple[int, ...] = ()
    open: bool = False
