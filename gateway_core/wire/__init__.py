"""Between one question and the bodies of the two wire formats; pure functions, no I/O.

    encode(question, model, capabilities) -> bytes          what to send
    read(body, question, capabilities) -> Answer            what came back, checked
    why_not_askable(question, capabilities) -> str | None   why this provider cannot take it

How a question is put to a provider is data in its ``Capabilities``; nothing here knows a
provider by name.
"""

import json
from typing import Any, Final

from gateway_core.errors import MalformedResponse
from gateway_core.types import Capabilities, Format, json_object
from gateway_core.wire import openai, systemone
from gateway_core.wire.answer import Answer, ParsedAnswer, Usage, checked_answer
from gateway_core.wire.form import form_of, why_not_askable
from gateway_core.wire.question import YES_NO, Question, QuestionType

__all__ = [
    "YES_NO",
    "Answer",
    "Question",
    "QuestionType",
    "Usage",
    "encode",
    "read",
    "why_not_askable",
    "wire_format",
]

_CODECS: Final = {Format.SYSTEMONE: systemone, Format.OPENAI: openai}
_encoder: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def wire_format(capabilities: Capabilities) -> Format:
    """Return the format in which a provider is asked: System One if it takes both."""
    return Format.SYSTEMONE if Format.SYSTEMONE in capabilities.formats else Format.OPENAI


def encode(question: Question, model: str, capabilities: Capabilities) -> bytes:
    """Write ``question`` as a body in the provider's format.

    Args:
        question: what is asked; its context must be JSON.
        model: the model to name; an empty string leaves the model out.
        capabilities: how the provider wants to be asked.

    Returns:
        Compact JSON in UTF-8.
    """
    codec = _CODECS[wire_format(capabilities)]
    return _encoder.encode(codec.body(form_of(question, capabilities), model)).encode()


def read(body: bytes, question: Question, capabilities: Capabilities) -> Answer:
    """Read what a provider answered to ``question``, and check it.

    Raises:
        MalformedResponse: the reply is not what its format promises, or does not add up; the
            text says which rule it breaks and never quotes the reply.
    """
    envelope = _unwrapped(json_object(body), capabilities.reply_path)
    parsed: ParsedAnswer = _CODECS[wire_format(capabilities)].parse_answer(envelope)
    form = form_of(question, capabilities)
    return checked_answer(parsed, form, envelope, optional=capabilities.probabilities == "none")


def _unwrapped(envelope: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    for key in path:
        inner = envelope.get(key)
        if not isinstance(inner, dict):
            raise MalformedResponse("the reply is not an object of the promised shape")
        envelope = inner
    return envelope
