"""The report's four charts, each of one provider."""

from typing import Final

import numpy as np

from gateway_core.evaluation.calibrationerror import BINS, bin_of
from gateway_core.evaluation.measures import Measured
from gateway_core.evaluation.report.parts import Part
from gateway_core.evaluation.report.svg import Plot, quarters, round_end
from gateway_core.evaluation.shares import share_of

_BAND_POINTS: Final = 60
RAW: Final = "raw"
CALIBRATED: Final = "calibrated"


def _series(part: Part) -> list[tuple[str, Measured]]:
    series = [(RAW, part.raw)]
    return series if part.calibrated is None else [*series, (CALIBRATED, part.calibrated)]


def reliability(part: Part) -> str:
    """Draw how often the provider was right against how sure it was; on the line is perfect."""
    plot = Plot(f"Reliability diagram of {part.name}", "confidence", "accuracy")
    plot.line([(0, 0), (1, 1)], "ideal")
    for style, measured in _series(part):
        places = bin_of(measured.confidence)
        points = []
        for number in range(BINS):
            inside = places == number
            count = int(inside.sum())
            if count:
                point = measured.confidence[inside].mean(), measured.correct[inside].mean()
                points.append((float(point[0]), float(point[1]), count))
        plot.line([(x, y) for x, y, _ in points], f"line {style}")
        for x, y, count in points:
            radius = 2 + 8 * (count / len(places)) ** 0.5
            note = f"{style}: {count} answers, {x:.1%} sure, {y:.1%} right"
            plot.dot((x, y), radius, f"dot {style}", note)
    return plot.text()


def risk_coverage(part: Part) -> str:
    """Draw the error among the answers that are accepted, the surest first."""
    highest = min(1.0, round_end(max(0.02, 1.1 * (1 - part.accuracy.value))))
    ticks = quarters(100 * highest, "%")
    plot = Plot(
        f"Risk and coverage of {part.name}", "share accepted", "share wrong", up_ticks=ticks
    )
    for style, measured in _series(part):
        order = np.argsort(-measured.confidence, kind="stable")
        risk = np.cumsum(~measured.correct[order]) / np.arange(1, len(order) + 1)
        picked = np.unique(np.linspace(0, len(order) - 1, 200).astype(int))
        points = [((place + 1) / len(order), float(risk[place]) / highest) for place in picked]
        plot.line([(x, min(y, 1.0)) for x, y in points], f"line {style}")
    _band(plot, part.best, highest)
    if part.accepted is not None:
        share, note = part.accepted.coverage, f"in force: from {part.accepted.threshold}"
        plot.line([(share, 0), (share, 1)], "ideal")
        plot.dot((share, 0.0), 4, "dot calibrated", note)
    return plot.text()


def _band(plot: Plot, measured: Measured, highest: float) -> None:
    """Draw the exact 95% interval of the error at each of some shares."""
    order = np.argsort(-measured.confidence, kind="stable")
    wrong = np.cumsum(~measured.correct[order])
    picked = np.unique(np.linspace(0, len(order) - 1, _BAND_POINTS).astype(int))
    shares = [share_of(int(wrong[place]), int(place) + 1) for place in picked]
    for ends in ([one.low for one in shares], [one.high for one in shares]):
        places = ((place + 1) / len(order) for place in picked)
        plot.line([(x, min(1.0, y / highest)) for x, y in zip(places, ends, strict=True)], "band")


def histogram(part: Part) -> str:
    """Draw how many answers were how sure, right ones below and wrong ones on top."""
    measured = part.calibrated or part.raw
    places = bin_of(measured.confidence)
    right = np.bincount(places[measured.correct], minlength=BINS)
    wrong = np.bincount(places[~measured.correct], minlength=BINS)
    tallest = round_end(max(4, int((right + wrong).max())))
    ticks = quarters(tallest)
    plot = Plot(f"Confidence of {part.name}", "confidence", "answers", up_ticks=ticks)
    for number in range(BINS):
        left, end = number / BINS, (number + 1) / BINS
        middle, top = right[number] / tallest, (right[number] + wrong[number]) / tallest
        plot.bar(left, end, 0, middle, "right")
        plot.bar(left, end, middle, top, "wrong")
    return plot.text()


def latency(part: Part) -> str:
    """Draw the share of answers that were there after so many milliseconds."""
    times = part.latencies
    longest = round_end(times[min(len(times) - 1, int(len(times) * 0.99))] or 1.0)
    ticks = quarters(longest)
    plot = Plot(f"Latency of {part.name}", "milliseconds", "answered", across_ticks=ticks)
    picked = np.unique(np.linspace(0, len(times) - 1, 200).astype(int))
    points = [(times[p] / longest, (p + 1) / len(times)) for p in picked if times[p] <= longest]
    plot.line([(0, 0), *points], "line plain")
    return plot.text()
