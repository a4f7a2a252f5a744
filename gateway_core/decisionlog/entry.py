"""One answer, as it is logged."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import attrs

from gateway_core.wire.question import Question


class Role(StrEnum):
    """Why a provider was asked."""

    CHAIN = "chain"
    """Its answer was the reply."""
    SHADOW = "shadow"
    """It was asked beside the chain, to be compared."""


@attrs.frozen(kw_only=True)
class Entry:
    """One decision, abstention or failure.

    Attributes:
        request_id: the call's id; a shadow's is that of the call it was asked beside.
        role: whether it answered the call or was asked beside it.
        question: what was asked; kept only when the log keeps content.
        status: ``decided``, ``abstained`` or ``error``.
        reason: why it abstained, or the error's code.
        provider: who answered.
        model: the model that answered; the one that was asked where the provider does not say.
        probabilities: as the provider gave them, before calibration, in the options' order.
        decision: the place of the most probable option; None without probabilities.
        confidence: the probability of that option after calibration.
        fit: id of the fit that was applied.
        temperature: what the fit tempered with.
        threshold: what the confidence was held to.
        latency_ms: of the whole call, or of the shadow's one attempt, in milliseconds.
        attempts: every provider tried: name, outcome, latency, detail.
    """

    request_id: str
    role: Role = Role.CHAIN
    question: Question
    status: str
    reason: str | None = None
    provider: str | None = None
    model: str | None = None
    probabilities: tuple[float, ...] | None = None
    decision: int | None = None
    confidence: float | None = None
    fit: str | None = None
    temperature: float | None = None
    threshold: float | None = None
    latency_ms: float | None = None
    attempts: tuple[Mapping[str, Any], ...] = ()
