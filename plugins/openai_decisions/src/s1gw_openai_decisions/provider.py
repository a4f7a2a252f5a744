"""The hooks of OpenAI's provider."""

from collections.abc import Sequence
from typing import ClassVar, Final

import attrs

from gateway_core import (
    Capabilities,
    DecisionReply,
    DecisionRequest,
    Format,
    ModelInfo,
    Operation,
    ProbeResult,
    ProviderContext,
    Secret,
    bearer,
    hookimpl,
)
from s1gw_openai_decisions.azure import azure_endpoint, is_azure
from s1gw_openai_decisions.catalogue import is_decision_model

# No number is declared: OpenAI raised its own limits three times within weeks, and a gateway
# that enforces yesterday's would refuse what the upstream takes.
_CAPABILITIES: Final = Capabilities(
    formats=frozenset({Format.OPENAI}), max_options=None, request_id_header="x-request-id"
)


@attrs.frozen(kw_only=True)
class Settings:
    """``[providers.NAME.settings]`` of an OpenAI provider.

    Attributes:
        azure: speak Azure's variant; unset, the base URL's host decides.
        decision_models: more model names, such as Azure deployments, for the listing.
    """

    azure: bool | None = None
    decision_models: tuple[str, ...] = ()


@attrs.frozen
class OpenAIDecisionsProvider:
    """Speaks OpenAI Decisions to OpenAI, to Azure and to those compatible with them."""

    settings_class: ClassVar = Settings
    default_base_url: ClassVar = "https://api.openai.com"
    default_models: ClassVar = ("gpt-6-luna",)
    context: ProviderContext[Settings]
    _azure: bool = attrs.field(init=False)

    @_azure.default
    def _speaks_azure(self) -> bool:
        chosen = self.context.settings.azure
        return is_azure(self.context.endpoint.base_url) if chosen is None else chosen

    @hookimpl
    def capabilities(self) -> Capabilities:
        """Return what OpenAI takes: its own format, and no limit of ours."""
        return _CAPABILITIES

    @hookimpl
    def build_url(self, operation: Operation) -> str:
        """Return the decision route, or the listing of models, which is free."""
        path = "/v1/decisions" if operation is Operation.DECIDE else "/v1/models"
        context = self.context
        if self._azure:
            context = attrs.evolve(context, endpoint=azure_endpoint(context.endpoint))
        return context.url(path)

    @hookimpl
    async def decide(self, request: DecisionRequest, url: str) -> DecisionReply:
        """Send the body with the key."""
        headers = self._auth(self.context.required_api_key(request))
        return await self.context.forward(request, url, headers=headers)

    @hookimpl
    async def probe(self, url: str) -> ProbeResult:
        """List the models: free, and proves that the key is accepted."""
        await self.context.get(url, headers=self._auth(self.context.required_api_key()))
        return ProbeResult(ok=True, detail="the key is accepted")

    @hookimpl
    async def list_models(self) -> Sequence[ModelInfo]:
        """Name the configured models; the listing shows those known to decide."""
        more = self.context.settings.decision_models
        return [
            ModelInfo(id=model, format=Format.OPENAI, listed=is_decision_model(model, more))
            for model in self.context.endpoint.models
        ]

    def _auth(self, key: Secret) -> dict[str, str]:
        return {"api-key": key.reveal()} if self._azure else bearer(key)
