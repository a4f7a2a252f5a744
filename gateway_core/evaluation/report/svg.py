"""A plot of the unit square as inline SVG, coloured by the page's own variables."""

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

import attrs

Point = tuple[float, float]

_WIDTH: Final = 340
_HEIGHT: Final = 250
_LEFT: Final = 56
_RIGHT: Final = 20
_TOP: Final = 10
_BOTTOM: Final = 40
_TICKS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
_ROUND: Final = (1, 2, 4, 6, 8, 10)


def round_end(highest: float) -> float:
    """Return an end for an axis that holds ``highest``, above 0, and has round quarters."""
    unit = 10.0 ** math.floor(math.log10(highest))
    return next(step * unit for step in _ROUND if highest <= step * unit * (1 + 1e-9))


def quarters(end: float, unit: str = "") -> list[str]:
    """Return the texts at 0, ¼, ½, ¾ and 1 of an axis that ends at ``end``."""
    return ["0", *(f"{end * tick:.4g}{unit}" for tick in _TICKS[1:])]


@attrs.define
class Plot:
    """Axes from 0 to 1, and what is drawn between them.

    Attributes:
        title: what the plot shows, for those who cannot see it.
        across: the name of the horizontal axis.
        up: the name of the vertical axis.
        across_ticks: the texts at 0, ¼, ½, ¾ and 1 of the horizontal axis.
        up_ticks: those of the vertical axis.
    """

    title: str
    across: str
    up: str
    across_ticks: Sequence[str] = ("0", "25%", "50%", "75%", "100%")
    up_ticks: Sequence[str] = ("0", "25%", "50%", "75%", "100%")
    _marks: list[str] = attrs.field(factory=list, init=False)

    def line(self, points: Iterable[Point], style: str) -> None:
        """Draw a line through ``points``, with the page's class ``style``."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(_place, points))
        self._marks.append(f'<polyline class="{style}" points="{path}"/>')

    def dot(self, point: Point, radius: float, style: str, note: str) -> None:
        """Draw a dot; ``note`` shows when it is pointed at."""
        x, y = _place(point)
        self._marks.append(
            f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}">'
            f"<title>{escape(note)}</title></circle>"
        )

    def bar(self, left: float, right: float, bottom: float, top: float, style: str) -> None:
        """Draw a filled box between two places of each axis."""
        x, y = _place((left, top))
        end, base = _place((right, bottom))
        self._marks.append(
            f'<rect class="{style}" x="{x + 1:.1f}" y="{y:.1f}" '
            f'width="{max(0.0, end - x - 2):.1f}" height="{base - y:.1f}"/>'
        )

    def text(self) -> str:
        """Return the SVG element."""
        return (
            f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(self.title)}">'
            f"{self._axes()}{''.join(self._marks)}</svg>"
        )

    def _axes(self) -> str:
        parts = []
        for tick, across, up in zip(_TICKS, self.across_ticks, self.up_ticks, strict=True):
            x, base = _place((tick, 0))
            left, y = _place((0, tick))
            end = _place((1, 0))[0]
            parts += [
                f'<line class="grid" x1="{left}" x2="{end}" y1="{y:.1f}" y2="{y:.1f}"/>',
                _label(x, base + 14, across, "middle"),
                _label(left - 5, y + 3.5, up, "end"),
            ]
        middle = (_TOP + _HEIGHT - _BOTTOM) / 2
        parts.append(_label((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 8, self.across, "middle"))
        turned = f' transform="rotate(-90 11 {middle})"'
        parts.append(_label(11, middle, self.up, "middle", turned))
        return "".join(parts)


def _place(point: Point) -> Point:
    x, y = point
    return (
        _LEFT + x * (_WIDTH - _LEFT - _RIGHT),
        _TOP + (1 - y) * (_HEIGHT - _TOP - _BOTTOM),
    )


def _label(x: float, y: float, text: str, anchor: str, extra: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(text)}</text>'
