"""The hooks of Perplexity's provider."""

from typing import ClassVar, Final

import attrs

from gateway_core import (
    Capabilities,
    DecisionReply,
    DecisionRequest,
    Format,
    ProbeResult,
    ProviderContext,
    bearer,
    hookimpl,
)
from gateway_core.errors import ProviderError

_CAPABILITIES: Final = Capabilities(
    formats=frozenset({Format.SYSTEMONE}),
    max_options=255,
    max_questions=128,
    request_id_header="x-request-id",
)


@attrs.frozen
class PerplexityProvider:
    """Speaks System One to Perplexity, whose route is called decisions."""

    default_base_url: ClassVar = "https://api.perplexity.ai"
    default_models: ClassVar = ("pplx-decider-latest",)
    context: ProviderContext[None]

    @hookimpl
    def capabilities(self) -> Capabilities:
        """Return Perplexity's documented limits."""
        return _CAPABILITIES

    @hookimpl
    def build_url(self) -> str:
        """Return the decision route: there is no other that is about decisions."""
        return self.context.url("/v1/decisions")

    @hookimpl
    async def decide(self, request: DecisionRequest, url: str) -> DecisionReply:
        """Send the body with the key."""
        headers = bearer(self.context.required_api_key(request))
        return await self.context.forward(request, url, headers=headers)

    @hookimpl
    async def probe(self, url: str) -> ProbeResult:
        """Fetch the decision route, which costs nothing: 405 means that it is there.

        Perplexity looks at the key before the method, so a wrong key is noticed too.
        """
        try:
            await self.context.get(url, headers=bearer(self.context.required_api_key()))
        except ProviderError as error:
            if error.status != 405:
                raise
            return ProbeResult(ok=True, detail="the decision route is there")
        return ProbeResult(ok=False, detail="the decision route answers GET: not Perplexity")
