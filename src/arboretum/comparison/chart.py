"""The scores of all models with their intervals, the best at the top.

ExtraTrees           ├──●──┤
RandomForest          ├───●───┤
tree of 8 leaves               ├────○────┤      ○ baselines
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arboretum.explain.mpl import LINES, QUIET, axes_for, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from arboretum.comparison.result import Comparison

__all__ = ["draw"]

_ROW = 0.3  # inches


def draw(result: Comparison, ax: Axes | None) -> Axes:
    """Draw the figure that ranks the models."""
    entries, measure = result.ranked, result.measure
    title = f"{measure.name} ({'higher' if measure.more else 'lower'} is better)"
    ax = axes_for("plot", ax, (7.5, 1.0 + _ROW * len(entries)), title=title, loc="left")
    for at, entry in enumerate(entries):
        found = result.estimate(entry.name, measure.key)
        is_baseline = entry.candidate.kind == "baseline"
        color = QUIET if is_baseline else LINES[0]
        ax.plot([found.low, found.high], [at, at], color=color, lw=1.6)
        ax.plot(found.value, at, "o", color=color, mfc="white" if is_baseline else color, ms=6)
    ax.set_yticks(range(len(entries)), [entry.name for entry in entries])
    ax.invert_yaxis()
    tidy(ax, "x", ("top", "right", "left"))
    return ax
