"""The provider: System One bodies in, System One replies out, all in this process."""

import json
from typing import Any, Final

from gateway_core import (
    IN_PROCESS,
    Capabilities,
    DecisionReply,
    DecisionRequest,
    Format,
    ProbeResult,
    ProviderContext,
    YesNo,
    hookimpl,
)
from gateway_core.errors import ModelNotFound
from s1gw_local.body import MAX_OPTIONS, MAX_QUESTIONS, Body, Question, fault, read_body
from s1gw_local.engine import Engine
from s1gw_local.scoring import TEMPERATURE, choice_confidence, score_confidence, softmax
from s1gw_local.settings import LocalSettings

MODEL: Final = "local-e5-small"
_NAMES: Final = frozenset({MODEL, "local"})
_NOTE: Final = (
    "a similarity engine for first runs, tests and as a last resort: it picks the option whose "
    "topic is closest to the text and does not reason"
)


class LocalProvider:
    """Decides by the similarity of embeddings; see the README for what that is worth."""

    settings_class = LocalSettings
    default_models = (MODEL,)

    def __init__(self, context: ProviderContext[LocalSettings]) -> None:
        self.context = context
        self._engine = Engine(context.settings.cache_size)

    @hookimpl
    def capabilities(self) -> Capabilities:
        """Say that it is keyless, in process, and answers no yes/no question."""
        return Capabilities(
            formats=frozenset({Format.SYSTEMONE}),
            max_options=MAX_OPTIONS,
            max_questions=MAX_QUESTIONS,
            yes_no=YesNo.UNSUPPORTED,
            keyless=True,
            remote=False,
            probabilities="estimated",
            notes=(_NOTE,),
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
        answers = {question.id: await self._answer(body, question) for question in body.questions}
        usage = {"input_tokens": 0, "output_tokens": 0}
        reply = {"model": MODEL, "answers": answers, "usage": usage}
        return DecisionReply(body=json.dumps(reply, ensure_ascii=False).encode())

    async def _answer(self, body: Body, question: Question) -> dict[str, Any]:
        state = await self._engine.embed(body.state)
        options = await self._engine.embed_options(question.texts)
        temperature = self.context.settings.temperature or TEMPERATURE[question.type]
        probabilities = softmax((options @ state).tolist(), temperature)
        return _answer(question, probabilities)


def _answer(question: Question, probabilities: list[float]) -> dict[str, Any]:
    named = dict(zip(question.keys, probabilities, strict=True))
    if question.type == "choice":
        return {
            "type": "choice",
            "choice": max(named, key=named.__getitem__),
            "probabilities": named,
            "confidence": choice_confidence(probabilities),
        }
    return {
        "type": "score",
        "score": sum(level * p for level, p in enumerate(probabilities)),
        "legend": dict(zip(question.keys, question.levels, strict=True)),
        "probabilities": named,
        "confidence": score_confidence(probabilities),
    }
