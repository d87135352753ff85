"""The legend of a tree's picture: one patch per class, or the scale of predicted values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arboretum.explain.colors import class_colors, mixed_colors, scale_color, value_limits
from arboretum.explain.drawing import Ruler, fold
from arboretum.explain.labels import Labels, Wording, format_decimals
from arboretum.structure.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["add_legend", "legend_height"]

_MOST = 20  # classes named
_ROW = 1.7  # em
_SCALE_WIDTH = 16.0  # em


def legend_height(labels: Labels, width: float, ruler: Ruler) -> float:
    """Return the height of a legend below a drawing of this width, in em."""
    entries = _entries(labels)
    if entries:
        return 1.5 + _ROW * -(-len(entries) // _columns(entries, width, ruler))
    low, high = value_limits(labels.tree)
    return 4.2 if low < high else 0.0


def add_legend(
    ax: Axes, em: float, labels: Labels, width: float, ruler: Ruler, height: float
) -> None:
    """Draw the legend into the ``height`` em below the drawing."""
    entries = _entries(labels)
    if entries:
        _add_patches(ax, em, entries, (width / 2, -height), _columns(entries, width, ruler))
    elif height > 0:
        _add_scale(ax, em, labels.tree, width / 2)


def _entries(labels: Labels) -> list[tuple[str, str]]:
    """Return (name, colour) of every class; empty for a regression tree."""
    if labels.tree.n_outputs > 1:
        return list(zip(("mixed", "pure"), mixed_colors([0.0, 1.0])))
    if labels.classes is None:
        return []
    names = labels.classes[0]
    colors = class_colors(len(names))
    kept = list(range(len(names)))
    if len(names) > _MOST:  # the classes with most weight are named
        kept = sorted(np.argsort(-labels.shares(0)[0], kind="stable")[: _MOST - 1].tolist())
    entries = [(fold(names[c], 30, max_lines=1)[0], colors[c]) for c in kept]
    if len(kept) < len(names):
        entries.append((f"… {len(names) - len(kept)} more", "none"))
    return entries


def _columns(entries: list[tuple[str, str]], width: float, ruler: Ruler) -> int:
    widest = max(ruler(name, False) for name, _ in entries) + 4.0
    return int(np.clip(width // widest, 1, len(entries)))


def _add_patches(
    ax: Axes, em: float, entries: list[tuple[str, str]], place: tuple[float, float], columns: int
) -> None:
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=color, edgecolor="none" if color == "none" else "#5b6770", lw=0.06 * em)
        for _, color in entries
    ]
    legend = ax.legend(
        handles, [name for name, _ in entries], loc="lower center", bbox_to_anchor=place,
        bbox_transform=ax.transData, ncol=columns, fontsize=em, frameon=False, handlelength=1.2,
        handleheight=0.8, columnspacing=1.4, labelspacing=0.4, borderpad=0, borderaxespad=0,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)


def _add_scale(ax: Axes, em: float, tree: Tree, middle: float) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    low, high = value_limits(tree)
    colors = ListedColormap([scale_color(part) for part in np.linspace(0, 1, 128)])
    place = (middle - _SCALE_WIDTH / 2, -2.6, _SCALE_WIDTH, 0.8)
    inset = ax.inset_axes(place, transform=ax.transData)
    bar = ax.figure.colorbar(
        ScalarMappable(Normalize(low, high), colors), cax=inset, orientation="horizontal"
    )
    wording = Wording(_decimals_for(low, high))
    ticks = [low, (low + high) / 2, high]
    texts = [format_decimals(tick, wording) for tick in ticks]
    if tree.value[:, 0, 0].min() < low:
        texts[0] = "≤ " + texts[0]
    if tree.value[:, 0, 0].max() > high:
        texts[2] = "≥ " + texts[2]
    bar.set_ticks(ticks, labels=texts)
    bar.outline.set_linewidth(0.06 * em)
    inset.tick_params(labelsize=0.9 * em, length=0.25 * em, width=0.06 * em, pad=0.2 * em)


def _decimals_for(low: float, high: float) -> int:
    """Return the number of decimals at which the three ticks of a scale differ."""
    return int(np.clip(2 - np.floor(np.log10(high - low)), 0, 12))
