"""The report as one HTML page that needs nothing else."""

from datetime import datetime
from html import escape
from itertools import starmap
from typing import Final

from gateway_core.calibration.fitfile import Estimate, Quality
from gateway_core.evaluation.report import charts, texts
from gateway_core.evaluation.report.parts import (
    Confusion,
    Pair,
    Part,
    Summary,
    accepted_cells,
    class_cells,
)
from gateway_core.evaluation.report.style import CSS

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
_TITLE: Final = "Calibration report"
_COLUMNS: Final = ("examples", "accuracy", "NLL", "Brier", "ECE", "median ms", "95% within ms")
_SERIES: Final = '<span class="key"></span>as it came<span class="key calibrated"></span>calibrated'
_RIGHT: Final = '<span class="key right"></span>right<span class="key wrong"></span>wrong'


def page(summary: Summary, made: datetime, source: str = "") -> str:
    """Return the report as HTML, without a script or anything from elsewhere.

    Args:
        summary: what it tells.
        made: when, in UTC.
        source: names the examples, with their digest.
    """
    origin = escape(source and f" from {source}")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{_TITLE}</title><style>{CSS}</style></head><body>"
        f"<h1>{_TITLE}</h1>"
        f'<p class="soft">Made by s1gw on {made:%Y-%m-%d %H:%M} UTC{origin}</p>'
        f"{_side_by_side(summary)}{''.join(map(_part, summary.parts))}"
        f'<footer class="soft">{texts.NOTES}</footer></body></html>\n'
    )


def _side_by_side(summary: Summary) -> str:
    rows = "".join(row for part in summary.parts for row in _rows(part))
    pairs = "".join(map(_pair, summary.pairs))
    table = _table(("provider", *_COLUMNS), rows, "stacked")
    return f'<h2>Side by side</h2><p class="soft">{texts.LEGEND}</p>{table}{pairs}'


def _rows(part: Part) -> list[str]:
    count, accuracy = str(len(part.raw.nll)), _percent(part.accuracy)
    times = [_latency(part, 0.5), _latency(part, 0.95)]
    before, after = part.quality_raw, part.quality_calibrated
    raw = [_decimal(before.nll), _decimal(before.brier), _error(before)]
    rows = [_row(f"{escape(part.name)}, as it came", count, accuracy, *raw, *times)]
    if after is not None:
        fit = [_decimal(after.nll), _decimal(after.brier), _error(after)]
        rows.append(_row(f"{escape(part.name)}, calibrated", count, accuracy, *fit, *times))
    return rows


def _pair(pair: Pair) -> str:
    first, second = escape(pair.first), escape(pair.second)
    return f"<p><strong>{first}</strong> against <strong>{second}</strong>: {pair.gap}.</p>"


def _part(part: Part) -> str:
    fits = f"fit {', '.join(map(escape, part.fits))}" if part.fits else "no fit applies"
    series = _SERIES if part.fits else ""
    figures = [
        _figure("Reliability", charts.reliability(part), texts.RELIABILITY, series),
        _figure("Risk and coverage", charts.risk_coverage(part), texts.RISK, series),
        _figure("Confidence", charts.histogram(part), texts.CONFIDENCE[bool(part.fits)], _RIGHT),
    ]
    if part.latencies:
        figures.append(_figure("Latency", charts.latency(part), texts.LATENCY))
    if part.confusion:
        table = _confusion(part.confusion)
        figures.append(_figure("Confusion matrix", table, texts.CONFUSION, style="wide"))
    figures += _tables(part)
    return (
        f"<section><h2>{escape(part.name)}</h2>"
        f'<p class="soft">{fits.capitalize()}. {_accepted(part)}</p>'
        f'<div class="charts">{"".join(figures)}</div></section>'
    )


def _accepted(part: Part) -> str:
    accepted, wrong = accepted_cells(part.accepted)
    if part.accepted is None:
        return f"No threshold is in force. AURC {part.aurc:.3f}."
    budget = f"{part.accepted.max_error:.1%}"
    return f"Accepted: {accepted}; wrong of these: {wrong}, budget {budget}. AURC {part.aurc:.3f}."


def _tables(part: Part) -> list[str]:
    """Return the tables of options, mistakes and months, those that there are."""
    found = []
    heads = ("decided for", "answers", "sure", "right")
    marked = [("off" if one.off else "", class_cells(one)) for one in part.classes]
    found.append(_figure("By option", _plain(heads, marked), texts.CLASSES, style="wide"))
    if part.mistakes:
        rows = [
            ("", [one.key, one.decided, one.right, f"{one.confidence:.1%}"])
            for one in part.mistakes
        ]
        table = _plain(("question", "decided", "right", "sure"), rows)
        found.append(_figure("Surest mistakes", table, texts.MISTAKES, style="wide"))
    if part.months:
        rows = [
            ("", [month, f"{one.value:.1%} ({one.low:.1%} to {one.high:.1%})"])
            for month, one in part.months
        ]
        found.append(
            _figure("By month", _plain(("month", "right"), rows), texts.MONTHS, style="wide")
        )
    return found


def _plain(heads: tuple[str, ...], rows: list[tuple[str, list[str]]]) -> str:
    body = "".join(
        f'<tr class="{style}">{"".join(f"<td>{escape(cell)}</td>" for cell in cells)}</tr>'
        for style, cells in rows
    )
    return _table(heads, body)


def _figure(title: str, content: str, meaning: str, key: str = "", style: str = "") -> str:
    legend = f'<p class="soft keys">{key}</p>' if key else ""
    return (
        f'<figure class="{style}"><h3>{title}</h3><figcaption class="soft">{meaning}</figcaption>'
        f"{content}{legend}</figure>"
    )


def _confusion(confusion: Confusion) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{_cells(place, counts)}</tr>'
        for place, (name, counts) in enumerate(
            zip(confusion.options, confusion.counts, strict=True)
        )
    )
    return _table(("right ↓ decided →", *map(escape, confusion.options)), rows)


def _cells(place: int, counts: tuple[int, ...]) -> str:
    total = max(1, sum(counts))
    return "".join(
        f'<td class="cell{"" if number == place else " off"}" '
        f'style="--share:{80 * count / total:.0f}%">{count}</td>'
        for number, count in enumerate(counts)
    )


def _table(heading: tuple[str, ...], rows: str, style: str = "") -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in heading)
    return (
        f'<div class="scroll"><table class="{style}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row(name: str, *cells: str) -> str:
    pairs = zip(_COLUMNS, cells, strict=True)
    return f'<tr><th scope="row">{name}</th>{"".join(starmap(_cell, pairs))}</tr>'


def _cell(column: str, content: str) -> str:
    return f'<td class="number" data-name="{column}"><span>{content}</span></td>'


def _percent(number: Estimate) -> str:
    return _ranged(f"{number.value:.1%}", f"{number.low:.1%}", f"{number.high:.1%}")


def _decimal(number: Estimate) -> str:
    return _ranged(f"{number.value:.3f}", f"{number.low:.3f}", f"{number.high:.3f}")


def _error(quality: Quality) -> str:
    if quality.p_value is None or quality.ece_by_chance is None:
        return _decimal(quality.ece)
    test = f"p {quality.p_value:.2g}, by chance to {quality.ece_by_chance:.3f}"
    return f'{_decimal(quality.ece)} <span class="range">{test}</span>'


def _ranged(value: str, low: str, high: str) -> str:
    return f'{value} <span class="range">{low} to {high}</span>'


def _latency(part: Part, share: float) -> str:
    if not part.latencies:
        return "unknown"
    return f"{part.latencies[min(len(part.latencies) - 1, int(len(part.latencies) * share))]:.0f}"
