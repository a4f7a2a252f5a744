"""docs/performance.md: prose by hand, and between markers what was measured."""

import math
import os
import platform
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import attrs

from benchmarks.figures import Spread

ROOT: Final = Path(__file__).resolve().parent.parent
DOCUMENT: Final = ROOT / "docs" / "performance.md"
NOTHING: Final = "-"
PLOT: Final = ROOT / "docs" / "performance.svg"


def replaced(text: str, name: str, content: str) -> str:
    """Return ``text`` with ``content`` between the markers of ``name``.

    Raises:
        ValueError: the markers are not there exactly once.
    """
    begin, end = f"<!-- measured: {name} -->", "<!-- end -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise ValueError(f"the document must have one place for {name!r}")
    filled = f"{begin}\n{content}\n{end}"
    return pattern.sub(lambda _: filled, text)


def write(name: str, content: str) -> None:
    """Put ``content``, and where it was measured, into the document."""
    shown = f"{machine()}\n\n{content}"
    DOCUMENT.write_text(replaced(DOCUMENT.read_text(), name, shown))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def spread(value: Spread | None, digits: int = 2) -> str:
    """Return a median with its extremes, or a dash."""
    if value is None or math.isnan(value.middle):
        return NOTHING
    middle, low, high = (f"{n:,.{digits}f}" for n in (value.middle, value.low, value.high))
    return middle if low == high else f"{middle} ({low} to {high})"


@attrs.frozen
class Goal:
    """One figure and what it should be.

    Attributes:
        what: the figure in words, with its unit.
        found: what was measured; None when it was not.
        most: the most it should be.
        least: the least it should be.
        digits: how many decimals are shown.
    """

    what: str
    found: Spread | float | None
    most: float | None = attrs.field(default=None, kw_only=True)
    least: float | None = attrs.field(default=None, kw_only=True)
    digits: int = attrs.field(default=2, kw_only=True)

    def row(self) -> Sequence[str]:
        """Return the figure, what is wanted, what was measured, and whether it is reached."""
        found = self.found
        if found is None:
            return self.what, self._wanted(), "not measured", NOTHING
        value = found if isinstance(found, Spread) else Spread(found, found, found)
        return self.what, self._wanted(), spread(value, self.digits), self._verdict(value.middle)

    def _wanted(self) -> str:
        if self.most is not None:
            return f"at most {self.most:g}"
        return NOTHING if self.least is None else f"at least {self.least:g}"

    def _verdict(self, middle: float) -> str:
        if self.most is None and self.least is None:
            return NOTHING
        high = self.most is not None and middle > self.most
        low = self.least is not None and middle < self.least
        return "**no**" if high or low else "yes"


def goals(*rows: Goal) -> str:
    """Return the table of figures and their targets."""
    return table(("figure", "wanted", "measured", "reached"), [goal.row() for goal in rows])


def machine() -> str:
    """Say when and where, and how busy the machine was with other things."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    # A run keeps both of its cores busy; what goes beyond that is somebody else's.
    load = os.getloadavg()[0]
    return (
        f"*{now}; {os.cpu_count()} cores ({_processor()}), {platform.system()}"
        f" {platform.release()}, Python {platform.python_version()}; load average {load:.1f}.*"
    )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
