"""The provider: System One bodies in, System One replies out, all in this process."""

import json
from typing import Final

from gateway_core import (
    IN_PROCESS,
    Capabilities,
    DecisionReply,
    DecisionRequest,
    EmptyState,
    Format,
    ProbeResult,
    ProviderContext,
    YesNo,
    hookimpl,
)
from gateway_core.errors import ModelNotFound
from s1gw_local.body import MAX_QUESTIONS, read_body
from s1gw_local.decider import Decider
from s1gw_local.engine import Engine
from s1gw_local.question import MAX_OPTIONS, fault
from s1gw_local.settings import LocalSettings

MODEL: Final = "local-e5-small"
ANSWERED_BY: Final = f"{MODEL}-1"
"""What replies name: it changes with the fit, so that a calibration made for one is not used on
the other."""
_NAMES: Final = frozenset({"local", MODEL, ANSWERED_BY})
NOTE: Final = (
    "a similarity engine for first runs, tests and as a last resort: it picks the option whose "
    "topic is closest and does not reason; of 5 to 8 options it picked the right one in 70% of "
    "148 test texts, where guessing gets 15%"
)


class LocalProvider:
    """Decides by the similarity of embeddings; see the README for what that is worth."""

    settings_class = LocalSettings
    default_models = (MODEL,)

    def __init__(self, context: ProviderContext[LocalSettings]) -> None:
        self.context = context
        self._engine = Engine(context.settings.cache_size)
        self._decider = Decider(engine=self._engine, temperature=context.settings.temperature)

    @hookimpl
    def capabilities(self) -> Capabilities:
        """Say that it is keyless, in process, and answers no yes/no question."""
        return Capabilities(
            formats=frozenset({Format.SYSTEMONE}),
            max_options=MAX_OPTIONS,
            max_questions=MAX_QUESTIONS,
            yes_no=YesNo.UNSUPPORTED,
            empty_state=EmptyState.QUESTION,
            keyless=True,
            remote=False,
            probabilities="estimated",
            notes=(NOTE,),
        )

    @hookimpl
    def build_url(self) -> str:
        """Name this process."""
        return f"{IN_PROCESS}local"

    @hookimpl
    async def probe(self) -> ProbeResult:
        """Load the engine and embed one word."""
        await self._engine.load()
        return ProbeResult(ok=True, detail="multilingual-e5-small (4-bit) is loaded in process")

    @hookimpl
    async def decide(self, request: DecisionRequest) -> DecisionReply:
        """Answer every question of a System One body.

        Raises:
            UpstreamRejected: the body breaks a rule, or asks what this engine cannot answer.
            ModelNotFound: the body names another model.
            RequestTooLarge: the body is larger than this engine reads in reasonable time.
            ProviderError: the engine cannot be loaded.
        """
        if not request.content_type.lower().startswith("application/json"):
            raise fault("content-type", "must be application/json; files are not read")
        body = read_body(request.body)
        if body.model not in _NAMES:
            raise ModelNotFound(
                "the embedded engine does not serve this model",
                status=404,
                upstream_message=f"model: unknown; the embedded engine serves {MODEL!r}",
            )
        found = await self._decider.answers(body)
        usage = {"input_tokens": found.tokens, "output_tokens": 0, "truncated": found.truncated}
        reply = {"model": ANSWERED_BY, "answers": found.by_id, "usage": usage}
        return DecisionReply(body=json.dumps(reply).encode())
