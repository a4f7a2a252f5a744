"""The hooks of the provider; gateway_core.hookspecs is their manual."""

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


class EchoProvider:
    """Passes System One bodies to Echo, and replies back, as they are."""

    default_base_url = "https://api.echo.example"

    def __init__(self, context: ProviderContext[None]) -> None:
        """Keep what the gateway knows of this provider; no I/O here."""
        self.context = context

    @hookimpl
    def capabilities(self) -> Capabilities:
        """Say how the upstream wants to be asked, and what it takes at most."""
        return Capabilities(formats=frozenset({Format.SYSTEMONE}), max_options=255)

    @hookimpl
    def build_url(self, operation: Operation) -> str:
        """Name the URL of the decision route, and of the list of models, which is free."""
        return self.context.url("/v1/systemone" if operation is Operation.DECIDE else "/v1/models")

    @hookimpl
    async def decide(self, request: DecisionRequest, url: str) -> DecisionReply:
        """Send the body with the key; the gateway turns refusals into its errors."""
        headers = bearer(self.context.required_api_key(request))
        return await self.context.forward(request, url, headers=headers)

    @hookimpl
    async def probe(self, url: str) -> ProbeResult:
        """Ask for the list of models: it costs nothing and proves that the key is accepted."""
        await self.context.get(url, headers=bearer(self.context.required_api_key()))
        return ProbeResult(ok=True, detail="the key is accepted")
