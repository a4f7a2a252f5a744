"""The hooks of a Laya server's provider."""

from typing import ClassVar

import attrs

from gateway_core import (
    Capabilities,
    DecisionReply,
    DecisionRequest,
    Format,
    Operation,
    ProbeResult,
    ProviderContext,
    YesNo,
    bearer,
    hookimpl,
)
from s1gw_laya.identity import identify

_SERVER_CAP = 255


@attrs.frozen(kw_only=True)
class Settings:
    """``[providers.NAME.settings]`` of a Laya provider.

    Attributes:
        max_options: the most options of one question. Laya's head reads all options within a
            few hundred tokens, so that long lists are cut; the server's own cap is 100, or 255
            with its tournament on.
        instructions_length: questions longer than this many characters travel in the state,
            because Laya cuts instructions without saying so.
    """

    max_options: int = attrs.field(
        default=20, validator=[attrs.validators.ge(2), attrs.validators.le(_SERVER_CAP)]
    )
    instructions_length: int = attrs.field(default=200, validator=attrs.validators.ge(1))


@attrs.frozen
class LayaProvider:
    """Speaks System One to the server of the ``laya`` package and to ``laya-serve``."""

    settings_class: ClassVar = Settings
    default_base_url: ClassVar = "http://127.0.0.1:8000"
    default_models: ClassVar = ("laya",)
    context: ProviderContext[Settings]

    @hookimpl
    def capabilities(self) -> Capabilities:
        """Return Laya's limits; its yes/no head leans to false, so that it is never asked."""
        settings = self.context.settings
        return Capabilities(
            formats=frozenset({Format.SYSTEMONE}),
            max_options=settings.max_options,
            max_questions=64,
            instructions_length=settings.instructions_length,
            yes_no=YesNo.CHOICE,
            keyless=True,
            remote=not self.context.on_this_machine,
        )

    @hookimpl
    def build_url(self, operation: Operation) -> str:
        """Return the decision route, the listing, or the health route of ``laya``'s server."""
        if operation is Operation.HEALTH:
            return self.context.site_url("/health")
        path = "/v1/systemone" if operation is Operation.DECIDE else "/v1/models"
        return self.context.url(path)

    @hookimpl
    async def decide(self, request: DecisionRequest, url: str) -> DecisionReply:
        """Send the body, with the key if there is one."""
        headers = bearer(self.context.api_key(request))
        return await self.context.forward(request, url, headers=headers)

    @hookimpl
    async def probe(self, url: str) -> ProbeResult:
        """Tell a Laya server from anything else that listens on the port."""
        return await identify(self.context, url)
