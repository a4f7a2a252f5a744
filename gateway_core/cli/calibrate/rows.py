"""How fits and thresholds are shown to a person."""

from typing import TYPE_CHECKING, Final

import click

from gateway_core.cli.terminal import percent, plain

if TYPE_CHECKING:
    from gateway_core.calibration.fitfile import BucketFit, Estimate
    from gateway_core.calibration.thresholdfile import MeasuredThreshold
    from gateway_core.evaluation.budget import Unmet
    from gateway_core.evaluation.fitting import Refused

FITS: Final = ("model", "type", "options", "examples", "temperature", "NLL", "Brier", "ECE")
BUDGETS: Final = (
    "provider",
    "model",
    "type",
    "options",
    "budget",
    "threshold",
    "coverage",
    "bound",
    "labels needed",
)
THRESHOLDS: Final = (
    "provider",
    "model",
    "type",
    "options",
    "threshold",
    "coverage",
    "errors",
    "bound",
)


def fit_row(fit: "BucketFit") -> list[str]:
    """Return the row of a fit: what it is for, its temperature, before and after."""
    numbers = [
        f"{before.value:.3f} → {after.value:.3f}" for before, after in _before_and_after(fit)
    ]
    flags = "".join([" saturated" * fit.saturated, " forced" * fit.forced])
    flags += " with biases" * (fit.shift is not None)
    temperature = f"{fit.temperature:.3f}{flags}"
    return [fit.model, fit.question_type, fit.bucket, str(fit.examples), temperature, *numbers]


def _before_and_after(fit: "BucketFit") -> "list[tuple[Estimate, Estimate]]":
    before, after = fit.before, fit.after
    if before is None or after is None:
        return []
    return [(before.nll, after.nll), (before.brier, after.brier), (before.ece, after.ece)]


def tell_refused(fits: "list[BucketFit]", refused: "list[Refused]") -> None:
    """Tell on stderr what got no fit and why, and what a saturated one means."""
    for one in refused:
        kind = f"{one.model}, {one.question_type}, {one.bucket} options"
        click.echo(f"no fit for {plain(kind)}, of {one.examples:,} examples: {one.why}", err=True)
    if any(one.saturated for one in fits):
        click.echo(
            "saturated: a temperature at an end of the range does as well; the examples are too "
            "few or too easy to tell how sure the provider should be, and replies warn of it",
            err=True,
        )


def threshold_row(one: "MeasuredThreshold") -> list[str]:
    """Return the row of a threshold: what it is for, what it lets through."""
    return [
        one.provider,
        one.model,
        one.question_type,
        one.bucket,
        str(one.threshold),
        percent(one.coverage),
        f"{one.errors} of {one.accepted}",
        f"≤ {percent(one.error_bound)}",
    ]


def budget_row(one: "MeasuredThreshold | Unmet", budget: float) -> list[str]:
    """Return the row of a budget: the threshold that keeps it, or the labels it would take."""
    kind = [one.provider, one.model, one.question_type, one.bucket, f"{budget:g}"]
    from gateway_core.evaluation.budget import Unmet

    if not isinstance(one, Unmet):
        return [
            *kind,
            str(one.threshold),
            percent(one.coverage),
            f"≤ {percent(one.error_bound)}",
            "-",
        ]
    near, more = one.nearest, "no number will do"
    if one.more is not None:
        more = f"about {max(one.more, one.needed):,}"
    covered = f"({percent(near.accepted / one.examples)})"
    return [*kind, "none", covered, f"(≤ {percent(near.error_bound)})", more]


def unmet_line(one: "Unmet") -> str:
    """Say for which questions no threshold keeps the budget, and what comes nearest."""
    kind = f"{one.provider}, {one.model}, {one.question_type}, {one.bucket} options"
    return (
        f"no threshold for {plain(kind)}, of {one.examples:,} examples: none keeps the budget; "
        f"{_nearest(one)}"
    )


def _nearest(one: "Unmet") -> str:
    near = one.nearest
    if one.examples < one.needed:
        return f"it takes at least {one.needed:,} accepted answers, all right"
    seen = (
        f"of the {near.accepted:,} surest, {near.errors:,} were wrong, which may be up to "
        f"{percent(near.error_bound)}"
    )
    if one.more is None:
        return f"{seen}: more labels will not help, a larger budget or a better fit may"
    return f"{seen}: about {max(one.more, one.needed):,} labels like these would show it"
