"""What becomes of one answer: decided, or abstained and why."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import attrs

from gateway_core.calibration import CalibrationInfo, Calibrator, Scales, Thresholds, Weighed
from gateway_core.decide.request import DecideRequest
from gateway_core.decide.session import ProviderSession
from gateway_core.errors import GatewayError
from gateway_core.provider import Provider
from gateway_core.wire import Answer

_ADVICE: Final = "reason it through yourself"
TRUNCATED: Final = "the provider cut the input to fit; it did not see all of it"


class Status(StrEnum):
    """How a call ended."""

    DECIDED = "decided"
    ABSTAINED = "abstained"
    ERROR = "error"


class Reason(StrEnum):
    """Why the gateway abstained, as data."""

    BELOW_THRESHOLD = "below_threshold"
    PROVIDER_ABSTAINED = "provider_abstained"
    PAUSED = "paused"
    REFUSED = "refused"
    ORDER_UNSTABLE = "order_unstable"
    TRUNCATED = "truncated"
    STALE_EVIDENCE = "stale_evidence"
    POLARITY_CONFLICT = "polarity_conflict"


@attrs.frozen(kw_only=True)
class Verdict:
    """What came of a question: a decision, an abstention, or an error.

    Attributes:
        decision: one of the outcomes; None when abstained.
        confidence: the probability of the provider's decision, after calibration.
        probabilities: by outcome, after calibration.
        reason: why it abstained; None when decided.
        rationale: one sentence for the caller; None when there is nothing to explain.
        provider: the name of the provider that answered.
        answer: what that provider answered, before calibration.
        model: the model that answered; the one that was asked where the provider does not say.
        threshold: the one that was applied.
        calibration: the fit that was applied.
        warnings: what the caller should know about this answer.
        error: why there is neither a decision nor an abstention.
        calls: how often the provider was called.
        note: what was done beyond asking once.
    """

    decision: str | None = None
    confidence: float | None = None
    probabilities: Mapping[str, float] | None = None
    reason: Reason | None = None
    rationale: str | None = None
    provider: str | None = None
    answer: Answer | None = None
    model: str | None = None
    threshold: float | None = None
    calibration: CalibrationInfo | None = None
    warnings: tuple[str, ...] = ()
    error: GatewayError | None = None
    calls: int = 0
    note: str | None = None

    @property
    def status(self) -> Status:
        """How the call ended."""
        if self.error is not None:
            return Status.ERROR
        return Status.DECIDED if self.reason is None else Status.ABSTAINED


@attrs.define(eq=False, kw_only=True)
class VerdictRules:
    """The rules that turn an answer into a verdict.

    Attributes:
        calibrator: the fits.
        thresholds: the thresholds in force.
        when_stale: what comes of an answer whose fit or threshold is of another model.
        abstain_when_truncated: whether a cut input is a reason to abstain.
    """

    calibrator: Calibrator
    thresholds: Thresholds
    abstain_when_truncated: bool = False
    when_stale: str = "abstain"

    def verdict(self, answer: Answer, session: ProviderSession, request: DecideRequest) -> Verdict:
        """Calibrate ``answer`` and hold it against the threshold that counts.

        Args:
            answer: what the provider answered.
            session: the calls that it took.
            request: the call.
        """
        provider = session.provider
        model = answer.model or provider.model
        weighed = self._weighed(answer, provider.name, model, request)
        spread = weighed.probabilities if answer.probabilities is not None else None
        confidence = spread[answer.decision] if spread and answer.decision else None
        reason = self._reason(answer, session, weighed)
        cut = (TRUNCATED,) if session.truncated else ()
        return Verdict(
            decision=answer.decision if reason is None else None,
            confidence=confidence,
            probabilities=spread,
            reason=reason,
            rationale=_rationale(reason, provider.name, confidence, weighed),
            provider=provider.name,
            answer=answer,
            model=model or None,
            threshold=weighed.threshold,
            calibration=weighed.info,
            warnings=(*provider.capabilities.notes, *cut, *weighed.warnings),
            calls=session.calls,
            note=session.note,
        )

    def _weighed(
        self, answer: Answer, provider: str, model: str, request: DecideRequest
    ) -> Weighed:
        scales = Scales(
            calibrator=self.calibrator, thresholds=self.thresholds, when_stale=self.when_stale
        )
        return scales.weigh(
            answer.probabilities or {},
            provider=provider,
            model=model,
            question_type=request.question.type,
            option_count=len(request.question.outcomes),
            requested=request.min_confidence,
        )

    def _reason(self, answer: Answer, session: ProviderSession, weighed: Weighed) -> Reason | None:
        if answer.refused:
            return Reason.REFUSED
        if answer.abstained:
            return Reason.PROVIDER_ABSTAINED
        if session.truncated and self.abstain_when_truncated:
            return Reason.TRUNCATED
        if session.unstable or session.conflict:
            return Reason.ORDER_UNSTABLE if session.unstable else Reason.POLARITY_CONFLICT
        if weighed.stale:
            return Reason.STALE_EVIDENCE
        sure = _least(answer, weighed)
        return Reason.BELOW_THRESHOLD if sure < weighed.threshold else None


def _least(answer: Answer, weighed: Weighed) -> float:
    """Return how sure the answer is on the least favourable scale that it is held to."""
    # A confidence that nobody knows passes only where nothing is asked of it.
    scales = (weighed.probabilities, weighed.also or weighed.probabilities)
    return min(scale[answer.decision] if scale and answer.decision else 0.0 for scale in scales)


def unsupported(provider: Provider) -> Verdict:
    """Return the verdict of a provider that does not take yes/no questions."""
    return Verdict(
        reason=Reason.PROVIDER_ABSTAINED,
        rationale=f"{provider.name} does not answer yes/no questions: {_ADVICE}, "
        "or ask again with options that say what each answer means",
        provider=provider.name,
        warnings=provider.capabilities.notes,
    )


def paused() -> Verdict:
    """Return the verdict while the gateway is switched off."""
    text = f"deciding is paused (s1gw toggle on resumes it): {_ADVICE}"
    return Verdict(reason=Reason.PAUSED, rationale=text)


def _rationale(
    reason: Reason | None, provider: str, confidence: float | None, weighed: Weighed
) -> str | None:
    if reason is None:
        return None
    known = "reports no probability" if confidence is None else f"is {confidence:.1%} sure"
    if weighed.also and reason is Reason.BELOW_THRESHOLD:
        known += ", on a scale that nobody has measured for this model"
    why = {
        Reason.REFUSED: f"{provider} refused to answer",
        Reason.PROVIDER_ABSTAINED: f"{provider} abstained",
        Reason.TRUNCATED: f"{provider} did not see all of the input",
        Reason.ORDER_UNSTABLE: f"{provider} decides otherwise when the options are reversed",
        Reason.POLARITY_CONFLICT: f"{provider} contradicts itself when asked the opposite",
        Reason.BELOW_THRESHOLD: f"{provider} {known}, and {weighed.threshold:.1%} is asked for",
        Reason.STALE_EVIDENCE: f"what is known of {provider} is of another model or fit",
    }
    return f"{why[reason]}: {_ADVICE}"
