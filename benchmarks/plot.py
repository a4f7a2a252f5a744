"""The relay's throughput and added latency, as a picture."""

from pathlib import Path
from typing import Any, Final

from benchmarks.figures import Figures, rate
from benchmarks.relay import SIZES, Matrix

_COLOURS: Final = {
    "nginx": "#2a7f62",
    "compiled": "#8fb4e8",
    "s1gw": "#1f5fbf",
    "litellm": "#b5502f",
}


def draw(matrix: Matrix, path: Path) -> None:
    """Draw ``matrix`` and write it to ``path`` as SVG."""
    import matplotlib as mpl

    mpl.use("svg")
    # The same figures are to give the same file.
    mpl.rcParams["svg.hashsalt"] = "s1gw"
    from matplotlib import pyplot as plt

    figures = Figures(matrix.runs)
    drawing, axes = plt.subplots(1, len(SIZES), figsize=(12, 4), layout="constrained")
    for axis, size in zip(axes, SIZES, strict=True):
        _draw_size(axis, figures, size)
    axes[0].set_ylabel("requests a second")
    axes[0].legend(frameon=False)
    drawing.savefig(path, metadata={"Date": None})
    plt.close(drawing)


def _draw_size(axis: Any, figures: Figures, size: str) -> None:
    connections = sorted({run.connections for run in figures.runs})
    for way, colour in _COLOURS.items():
        found = {n: figures.of(way, size, n, rate) for n in connections}
        points = [(n, value) for n, value in found.items() if value is not None]
        if points:
            middles = [value.middle for _, value in points]
            below = [value.middle - value.low for _, value in points]
            above = [value.high - value.middle for _, value in points]
            places = [connections.index(n) for n, _ in points]
            axis.errorbar(
                places, middles, yerr=(below, above), label=way, color=colour, marker="o", capsize=3
            )
    axis.set_yscale("log")
    axis.set_xticks(range(len(connections)), [str(n) for n in connections])
    axis.set_xlabel("connections")
    axis.set_title(f"{size} bodies")
    axis.grid(visible=True, alpha=0.3)
