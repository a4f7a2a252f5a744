"""The hooks of a provider for any server that speaks System One."""

from typing import ClassVar, Final
from urllib.parse import quote

import attrs

from gateway_core import (
    Capabilities,
    DecisionReply,
    DecisionRequest,
    Format,
    LabelRules,
    Operation,
    ProbeResult,
    ProviderContext,
    hookimpl,
)
from gateway_core.errors import DestinationUnusable, RateLimited
from s1gw_generic_systemone.health import check_listing, check_up
from s1gw_generic_systemone.known import resolve
from s1gw_generic_systemone.rules import advised, refuse_hidden_error, rooted
from s1gw_generic_systemone.server import Server
from s1gw_generic_systemone.settings import Settings

_IN_PATH: Final = "/:@!$&'()*+,;=~"
"""What a model's name may hold in a path as it is; many are paths themselves."""


class GenericSystemOneProvider:
    """Speaks System One to the server of an explicit base URL."""

    settings_class: ClassVar = Settings

    def __init__(self, context: ProviderContext[Settings]) -> None:
        """Find out which server is meant; does no I/O."""
        self.server: Server = resolve(context.settings, context.endpoint.base_url)
        self.context = attrs.evolve(context, endpoint=rooted(context.endpoint, self.server))

    @hookimpl
    def capabilities(self) -> Capabilities:
        """Return the server's limits as data."""
        server = self.server
        return Capabilities(
            formats=frozenset({Format.SYSTEMONE}),
            max_options=server.max_options or None,
            max_questions=server.max_questions or None,
            max_question_length=server.max_question_length or None,
            instructions_length=server.instructions_length or None,
            yes_no=server.yes_no,
            empty_state=server.empty_state,
            labels=LabelRules(
                max_length=server.label_max_length or None,
                control_characters=server.label_control_characters,
                case_sensitive=server.label_case_sensitive,
            ),
            keyless=server.keyless,
            remote=not self.context.on_this_machine,
            probabilities=server.probabilities,
            reply_path=server.reply_path,
        )

    @hookimpl
    def build_url(self, operation: Operation, model: str) -> str:
        """Return the decision route, for the model if it is part of it; the listing, or health."""
        if operation is Operation.DECIDE:
            return self.context.url(self._path(model))
        if self.server.health_path and not self.server.models_path:
            return self.context.site_url(self.server.health_path)
        return self.context.url(self.server.models_path or "/v1/models")

    @hookimpl
    async def decide(self, request: DecisionRequest, url: str) -> DecisionReply:
        """Send the body, with the key if there is one.

        Raises:
            KeyMissing: the server takes nothing without a key, and there is none.
        """
        try:
            reply = await self.context.forward(request, url, headers=self._auth(request))
        except RateLimited as error:
            if clearer := advised(error, self.server):
                raise clearer from error
            raise
        refuse_hidden_error(reply, self.server)
        return reply

    @hookimpl
    async def probe(self, url: str) -> ProbeResult:
        """Ask for the list of models, else the health route, if the server has either."""
        headers = self._auth()
        if self.server.models_path:
            return await check_listing(self.context, url, headers, self.server.listing)
        if self.server.health_path:
            return await check_up(self.context, url, headers)
        return ProbeResult(ok=True, detail="not probed: this server has nothing free to ask")

    def _path(self, model: str) -> str:
        if "{model}" not in self.server.path:
            return self.server.path
        if not model:
            raise DestinationUnusable("this server's URL names the model: configure models")
        return self.server.path.replace("{model}", quote(model, safe=_IN_PATH))

    def _auth(self, request: DecisionRequest | None = None) -> dict[str, str]:
        find_key = self.context.api_key if self.server.keyless else self.context.required_api_key
        key = find_key(request)
        if key is None:
            return {}
        return {self.server.auth_header: f"{self.server.auth_scheme} {key.reveal()}".strip()}
