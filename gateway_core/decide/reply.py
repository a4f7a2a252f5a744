"""The reply of the decide contract: one object, every key always there."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import attrs

from gateway_core.causes import Cause
from gateway_core.decide.request import DecideRequest
from gateway_core.decide.verdict import Verdict
from gateway_core.errors import (
    GatewayError,
    MalformedResponse,
    MiddlewareFailed,
    ProviderError,
    ProviderTimeout,
)
from gateway_core.schema.request import SCHEMA_VERSION
from gateway_core.wire import Answer


class AttemptOutcome(StrEnum):
    """How one attempt ended."""

    OK = "ok"
    ABSTAINED = "abstained"
    TIMEOUT = "timeout"
    ERROR = "error"
    MALFORMED = "malformed"


@attrs.frozen(kw_only=True)
class Attempt:
    """One provider that was tried, or skipped.

    Attributes:
        provider: its name.
        outcome: how it ended.
        latency_ms: how long it took, in milliseconds.
        detail: what went wrong, why it abstained, or what took several calls; None when there
            is nothing to say.
        calls: how often it was called.
        cause: why it failed, for the log; None where it did not.
        upstream_status: the upstream's HTTP status, for the log; None where it failed without.
    """

    provider: str
    outcome: AttemptOutcome
    latency_ms: float
    detail: str | None = None
    calls: int = 1
    cause: Cause | None = None
    upstream_status: int | None = None


@attrs.frozen(kw_only=True)
class Outcome:
    """How a call ended.

    Attributes:
        verdict: what came of it.
        attempts: every provider that was tried, in order; none if nobody was asked.
        request: the call as it reached the chain, if that is not as it was made; the
            gateway fills it in.
    """

    verdict: Verdict
    attempts: tuple[Attempt, ...] = ()
    request: DecideRequest | None = None


def attempt_of(provider: str, verdict: Verdict, latency_ms: float) -> Attempt:
    """Record the attempt that ended in ``verdict``."""
    error = verdict.error
    reason = verdict.rationale if error is None else _message(error)
    failed = error if isinstance(error, ProviderError) else None
    return Attempt(
        provider=provider,
        outcome=_outcome(verdict),
        latency_ms=latency_ms,
        detail="; ".join(filter(None, (verdict.note, reason))) or None,
        calls=verdict.calls,
        cause=failed.cause if failed else None,
        upstream_status=failed.status if failed else None,
    )


def _message(error: GatewayError) -> str:
    """Return what callers read of ``error``, with what the upstream said that may be shown."""
    shown = error.shown_message if isinstance(error, ProviderError) else None
    return str(error) if shown is None else f"{error}: {shown}"


def _outcome(verdict: Verdict) -> AttemptOutcome:
    match verdict.error:
        case None:
            return AttemptOutcome.OK if verdict.reason is None else AttemptOutcome.ABSTAINED
        case ProviderTimeout():
            return AttemptOutcome.TIMEOUT
        case MalformedResponse():
            return AttemptOutcome.MALFORMED
    return AttemptOutcome.ERROR


def reply(outcome: Outcome, *, request_id: str, latency_ms: float) -> dict[str, Any]:
    """Build the reply that tells how a call ended."""
    verdict, attempts = outcome.verdict, outcome.attempts
    answer, spread, fit = verdict.answer or Answer(), verdict.probabilities, verdict.calibration
    return {
        "status": verdict.status.value,
        "decision": verdict.decision,
        "confidence": verdict.confidence,
        "probabilities": None if spread is None else dict(spread),
        "calibrated": fit is not None,
        "rationale": verdict.rationale,
        "provider": verdict.provider,
        "latency_ms": round(latency_ms, 3),
        "attempts": [_attempt(attempt) for attempt in attempts],
        "error": _error(verdict.error, attempts),
        "schema_version": SCHEMA_VERSION,
        "request_id": request_id,
        "model": answer.model,
        "provider_confidence": answer.provider_confidence,
        "reason": None if verdict.reason is None else verdict.reason.value,
        "threshold": verdict.threshold,
        "calibration": None if fit is None else attrs.asdict(fit),
        "warnings": list(verdict.warnings),
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "provider": attempt.provider,
        "outcome": attempt.outcome.value,
        "latency_ms": round(attempt.latency_ms, 3),
        "detail": attempt.detail,
        "calls": attempt.calls,
    }


def _error(error: GatewayError | None, attempts: Sequence[Attempt]) -> dict[str, str] | None:
    if error is None:
        return None
    own = attempts and not isinstance(error, MiddlewareFailed)
    asked = f"{attempts[-1].provider}: " if own else ""
    return {"code": error.code, "message": f"{asked}{_message(error)}"}
