"""The decide contract: one question in, one decision, abstention or error out."""

from gateway_core.decide.ask import ask
from gateway_core.decide.chain import Chain
from gateway_core.decide.cooling import Cooldowns
from gateway_core.decide.decider import Answerer, Decider, refused
from gateway_core.decide.link import Link
from gateway_core.decide.observe import DecisionRecord, Observer
from gateway_core.decide.reply import Attempt, AttemptOutcome, Outcome
from gateway_core.decide.request import DecideRequest
from gateway_core.decide.verdict import Reason, Status, Verdict, VerdictRules

__all__ = [
    "Answerer",
    "Attempt",
    "AttemptOutcome",
    "Chain",
    "Cooldowns",
    "DecideRequest",
    "Decider",
    "DecisionRecord",
    "Link",
    "Observer",
    "Outcome",
    "Reason",
    "Status",
    "Verdict",
    "VerdictRules",
    "ask",
    "refused",
]
