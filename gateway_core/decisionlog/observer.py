"""What the log notes of a decision that the gateway made."""

import attrs

from gateway_core.decide.observe import DecisionRecord
from gateway_core.decisionlog.entry import Entry, Role
from gateway_core.decisionlog.writer import DecisionLog


@attrs.frozen
class LogObserver:
    """Logs every valid call of the decide contract.

    Attributes:
        log: where to.
    """

    log: DecisionLog

    def decided(self, record: DecisionRecord) -> None:
        """Log one call; returns at once."""
        self.log.add(entry_of(record))


def entry_of(record: DecisionRecord, role: Role = Role.CHAIN) -> Entry:
    """Return what is logged of one call, decided or not."""
    reply, question = record.reply, record.request.question
    asked = reply["attempts"][-1]["provider"] if reply["attempts"] else None
    fit = reply["calibration"] or {}
    spread = record.answer.probabilities if record.answer else None
    decision = record.answer.decision if record.answer else None
    return Entry(
        request_id=reply["request_id"],
        role=role,
        question=question,
        status=reply["status"],
        reason=reply["error"]["code"] if reply["error"] else reply["reason"],
        provider=reply["provider"] or asked,
        model=record.model,
        probabilities=tuple(spread[one] for one in question.outcomes) if spread else None,
        decision=None if decision is None else question.outcomes.index(decision),
        confidence=reply["confidence"],
        fit=fit.get("id"),
        temperature=fit.get("temperature"),
        threshold=reply["threshold"],
        latency_ms=reply["latency_ms"],
        attempts=tuple(reply["attempts"]),
    )
