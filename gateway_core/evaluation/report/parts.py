"""What the report tells, as records."""

import attrs

from gateway_core.calibration.fitfile import Estimate, Quality
from gateway_core.calibration.temperature import Bucket
from gateway_core.evaluation.measures import Measured
from gateway_core.wire import QuestionType


@attrs.frozen(kw_only=True, eq=False)
class Confusion:
    """How often which option was decided where which was right.

    Attributes:
        options: their names.
        counts: rows are the right option, columns the decided one.
    """

    options: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@attrs.frozen(kw_only=True)
class ClassRow:
    """The answers that decided for one option.

    Attributes:
        option: its name.
        decided: how many decided for it.
        confidence: their mean confidence, calibrated where a fit applies.
        right: which share of them was right.
    """

    option: str
    decided: int
    confidence: float
    right: Estimate

    @property
    def off(self) -> bool:
        """Whether the confidence is outside of the interval of what was right."""
        return not self.right.low <= self.confidence <= self.right.high


@attrs.frozen(kw_only=True)
class Accepted:
    """What the threshold in force lets through.

    Attributes:
        threshold: the confidence from which answers are accepted.
        max_error: the budget that it was measured for.
        accepted: how many of the answers it accepts.
        coverage: their share of all.
        wrong: the share of the accepted ones that is wrong; None when none is accepted.
    """

    threshold: float
    max_error: float
    accepted: int
    coverage: float
    wrong: Estimate | None


@attrs.frozen(kw_only=True)
class Mistake:
    """A wrong answer of which the provider was very sure.

    Attributes:
        key: names the question, as the log's digest or the file's.
        decided: the option that was decided.
        right: the right one.
        confidence: how sure it was.
    """

    key: str
    decided: str
    right: str
    confidence: float


@attrs.frozen(kw_only=True, eq=False)
class Part:
    """One provider's answers to one kind of question, by one model, measured.

    Attributes:
        provider: its name.
        model: the model that answered.
        question_type: ``options`` or ``yes_no``.
        bucket: how many options.
        fits: ids of the fits that were applied.
        accuracy: share of right decisions.
        raw: numbers per example, from the probabilities as they came.
        calibrated: the same after the fits in force; None when none applies.
        quality_raw: their means.
        quality_calibrated: the same of the calibrated ones.
        latencies: sorted, in milliseconds; of those examples that know it.
        confusion: of the questions with the most common list of options; None when no list
            has few enough.
        classes: by decided option, of the same list of options; the most frequent first.
        accepted: what the threshold in force lets through; None where none is.
        aurc: area under the risk-coverage curve: the error among the accepted answers, averaged
            over all shares accepted; the less the better.
        mistakes: the wrong answers of which it was most sure.
        months: how many were right by month, where the examples know when they were given.
    """

    provider: str
    model: str
    question_type: QuestionType
    bucket: Bucket
    fits: tuple[str, ...]
    accuracy: Estimate
    raw: Measured
    calibrated: Measured | None
    quality_raw: Quality
    quality_calibrated: Quality | None
    latencies: tuple[float, ...]
    confusion: Confusion | None
    classes: tuple[ClassRow, ...]
    accepted: Accepted | None
    aurc: float
    mistakes: tuple[Mistake, ...]
    months: tuple[tuple[str, Estimate], ...] = ()

    @property
    def name(self) -> str:
        """Provider, model and kind of question, in words."""
        kind = "yes or no" if self.question_type == "yes_no" else f"{self.bucket} options"
        return f"{self.provider}, {self.model}, {kind}"

    @property
    def best(self) -> Measured:
        """The numbers that count: calibrated where a fit applies."""
        return self.calibrated or self.raw


@attrs.frozen(kw_only=True)
class Pair:
    """Two providers on the questions that both answered.

    Attributes:
        first: one.
        second: the other.
        questions: how many both answered.
        difference: accuracy of the first less that of the second.
        p_value: of the hypothesis that neither is right more often.
    """

    first: str
    second: str
    questions: int
    difference: Estimate
    p_value: float

    @property
    def gap(self) -> str:
        """The difference in words, with its interval."""
        found = self.difference
        value, low, high = map(_points, (found.value, found.low, found.high))
        told = "a difference" if self.p_value <= 0.05 else "which does not show a difference"
        return (
            f"{value} points of accuracy ({low} to {high}) on the {self.questions:,} questions "
            f"that both answered, {told} beyond chance (McNemar p = {self.p_value:.2g})"
        )


@attrs.frozen(kw_only=True, eq=False)
class Summary:
    """Everything the report shows.

    Attributes:
        parts: one per provider, model, question type and number of options.
        pairs: every two providers with questions in common.
    """

    parts: tuple[Part, ...]
    pairs: tuple[Pair, ...]

    heading = (
        "provider",
        "model",
        "type",
        "options",
        "examples",
        "accuracy",
        "NLL",
        "Brier",
        "ECE",
        "AURC",
        "accepted",
        "wrong of these",
        "fit",
    )
    columns = ("provider", "model", "type", "options", "decided for", "answers", "sure", "right")

    def rows(self) -> list[list[str]]:
        """Return the report's table for a terminal: raw → calibrated where a fit applies."""
        return [_row(part) for part in self.parts]

    def off(self) -> list[list[str]]:
        """Return rows for the options whose answers are not as sure as they are right."""
        return [
            [*_kind(part), *class_cells(one)]
            for part in self.parts
            for one in part.classes
            if one.off
        ]


def _points(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−")  # noqa: RUF001  # a minus, not a hyphen


def _row(part: Part) -> list[str]:
    before, after = part.quality_raw, part.quality_calibrated
    pairs = [(before.nll, after and after.nll), (before.brier, after and after.brier)]
    pairs.append((before.ece, after and after.ece))
    numbers = [
        f"{one.value:.3f}" + (f" → {other.value:.3f}" if other else "") for one, other in pairs
    ]
    count = str(len(part.raw.nll))
    accuracy = f"{part.accuracy.value:.1%}"
    fits = ", ".join(part.fits) or "none"
    accepted = accepted_cells(part.accepted)
    return [*_kind(part), count, accuracy, *numbers, f"{part.aurc:.3f}", *accepted, fits]


def _kind(part: Part) -> list[str]:
    return [part.provider, part.model, part.question_type, part.bucket]


def class_cells(one: ClassRow) -> list[str]:
    """Return an option's cells: how many decided for it, how sure and how right they were."""
    right = f"{one.right.value:.1%} ({one.right.low:.1%} to {one.right.high:.1%})"
    return [one.option, str(one.decided), f"{one.confidence:.1%}", right]


def accepted_cells(found: Accepted | None) -> tuple[str, str]:
    """Return what the threshold in force accepts, and how much of that is wrong."""
    if found is None:
        return "no threshold", "-"
    wrong = "-"
    if found.wrong is not None:
        wrong = f"{found.wrong.value:.1%} (to {found.wrong.high:.1%})"
    return f"{found.coverage:.1%} from {found.threshold}", wrong
