"""A picture of all ratios on real tables: a row per model, a dot per table, a bar at the geometric mean.

Right of the line at 1 is good for us in both panels: the left one has speed (the peer's time ÷ ours), the
right one loss (ours ÷ the peer's) on an axis that runs from right to left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.real_models import MODELS
from benchmarks.real_results import Summary, TableResult, summaries

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_tables"]

_COLOURS = {False: "#3b6fb6", True: "#d9822b"}  # numbers, words
_LINE, _FAINT = "#404040", "#d8d8d8"
_LANE = {False: 0.2, True: -0.2}  # numbers above, words below
_LOSS_REACH = 1.6  # what is further out is drawn at the edge, as a triangle
_SPEED_TICKS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)
_LOSS_TICKS = (1.5, 1.3, 1.2, 1.1, 1, 0.9, 0.8, 0.7)
_NAMED_LOSS = 1.05  # the worst table of a lane is named if its loss is above, or its speed below 1


def draw_tables(results: Sequence[TableResult]) -> Figure:
    """Draw speed and loss of every model on every table."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    every = {words: {s.model: s for s in summaries(results, words)} for words in (False, True)}
    models = [name for name in MODELS if any(name in one for one in every.values())]
    figure = Figure(figsize=(14, 1.6 + 0.95 * len(models)), layout="constrained")
    FigureCanvasAgg(figure)
    speed, loss = figure.subplots(1, 2, sharey=True)
    for row, name in enumerate(models):
        for words, by_model in every.items():
            if name in by_model:
                _draw_dots(speed, by_model[name], "fit_speed", row, words)
                _draw_dots(loss, by_model[name], "loss", row, words)
    labels = [f"{MODELS[name].title}\nbeside {MODELS[name].peer}" for name in models]
    speed.set_yticks(range(len(models)), labels)
    speed.set_ylim(len(models) - 0.45, -0.55)
    _finish(speed, "fit: times as fast as the peer on ready codes, one thread", _SPEED_TICKS)
    _finish(loss, "held-out loss: ours ÷ the peer's", _LOSS_TICKS)
    speed.margins(x=0.1)  # room for names
    loss.set_xlim(_LOSS_REACH, 1 / _LOSS_REACH)
    marks = [
        Line2D([], [], marker="o", linestyle="", color=_COLOURS[words], alpha=0.6,
               label=f"{label} ({sum((t.words > 0) == words for t in results)} tables)")
        for words, label in ((False, "numbers only"), (True, "with words"))
    ]  # fmt: skip
    marks.append(Line2D([], [], marker="|", markersize=14, markeredgewidth=3, linestyle="",
                        color=_LINE, label="geometric mean"))  # fmt: skip
    figure.legend(handles=marks, loc="outside upper center", ncols=3, frameon=False)
    return figure


def _draw_dots(ax: Axes, s: Summary, ratio: str, row: int, words: bool) -> None:
    """Draw one model's tables of one kind in their lane of its row."""
    values = np.array([getattr(pair, ratio) for pair in s.pairs])
    mean = s.mean(ratio)
    lane = row - _LANE[words]
    # Dots that would hide each other are spread: the same ones in every picture.
    lift = np.random.default_rng(row).uniform(-0.11, 0.11, len(values))
    edge = np.clip(values, 1 / _LOSS_REACH, _LOSS_REACH) if ratio == "loss" else values
    inside = edge == values
    for chosen, marker in ((inside, "o"), (values > edge, "<"), (values < edge, ">")):
        ax.scatter(edge[chosen], lane + lift[chosen], s=22, marker=marker, linewidths=0,
                   color=_COLOURS[words], alpha=0.6, zorder=3)  # fmt: skip
    ax.plot([mean, mean], [lane - 0.17, lane + 0.17], color=_LINE, linewidth=3, zorder=4)
    text = f"{mean:.2f}×" if ratio == "fit_speed" else f"{mean:.3f}"
    ax.annotate(text, (1.005, lane), xycoords=("axes fraction", "data"), va="center",
                fontsize=8.5, color=_COLOURS[words])  # fmt: skip
    ((name, value),) = s.worst(ratio)
    if (value > _NAMED_LOSS) if ratio == "loss" else (value < 1):
        k = next(k for k, table in enumerate(s.tables) if table.name == name)
        ax.annotate(name, (edge[k], lane + lift[k]), (-5, 0), textcoords="offset points",
                    ha="right", va="center", fontsize=7, color="#606060")  # fmt: skip


def _finish(ax: Axes, label: str, ticks: Sequence[float]) -> None:
    from matplotlib.ticker import NullLocator

    ax.set_xscale("log")
    ax.axvline(1, color=_LINE, linewidth=1, zorder=1)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.grid(axis="x", color=_FAINT, linewidth=0.7, zorder=0)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(f"{label}  (right of 1: ours is better)")
