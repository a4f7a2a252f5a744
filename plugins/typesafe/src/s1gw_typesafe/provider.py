"""The hooks of TypeSafe's provider."""

from typing import ClassVar, Final

import attrs

from gateway_core import (
    Capabilities,
    DecisionReply,
    DecisionRequest,
    Format,
    Operation,
    ProbeResult,
    ProviderContext,
    bearer,
    hookimpl,
)
from gateway_core.errors import KeyMissing, KeyRejected

_CAPABILITIES: Final = Capabilities(
    formats=frozenset({Format.SYSTEMONE}),
    max_options=255,
    feature_headers=frozenset({"typesafe-danger-zone-images", "typesafe-danger-zone-long-context"}),
    request_id_header="x-typesafe-request-id",
)


@attrs.frozen
class TypeSafeProvider:
    """Speaks System One to TypeSafe."""

    default_base_url: ClassVar = "https://api.typesafe.ai"
    default_models: ClassVar = ("jev-latest",)
    context: ProviderContext[None]

    @hookimpl
    def capabilities(self) -> Capabilities:
        """Return TypeSafe's limits; its documentation gives none for questions."""
        return _CAPABILITIES

    @hookimpl
    def build_url(self, operation: Operation) -> str:
        """Return the decision route, or the listing, which is free and so serves as a probe."""
        path = "/v1/systemone" if operation is Operation.DECIDE else "/v1/models"
        return self.context.url(path)

    @hookimpl
    async def decide(self, request: DecisionRequest, url: str) -> DecisionReply:
        """Send the body with the key.

        Raises:
            KeyMissing: TypeSafe saw no key. It says so with 403 and keeps 401 for a wrong one;
                a 403 of another kind means that the key may not do this.
        """
        headers = bearer(self.context.required_api_key(request))
        try:
            return await self.context.forward(request, url, headers=headers)
        except KeyRejected as error:
            if error.status != 403 or error.upstream_code != "authentication_error":
                raise
            raise KeyMissing(
                "TypeSafe received no API key",
                status=error.status,
                headers=error.headers,
                upstream_message=error.upstream_message,
                upstream_code=error.upstream_code,
            ) from error

    @hookimpl
    async def probe(self, url: str) -> ProbeResult:
        """List the models: free, and proves that the key is accepted."""
        await self.context.get(url, headers=bearer(self.context.required_api_key()))
        return ProbeResult(ok=True, detail="the key is accepted")
