"""A tree as a picture, drawn with matplotlib.

The boxes and their positions come from `drawing.py`, measured in em. Here the size of an em
in points is chosen: a new figure is as large as the drawing needs; given axes determine the font size.

Below the tree stands a legend: one patch per class, or the scale of predicted values.
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.errors import ParameterError
from arboretum.explain.boxes import BoxStyle
from arboretum.explain.colors import (
    CUT,
    class_colors,
    mixed_colors,
    node_colors,
    scale_color,
    value_limits,
)
from arboretum.explain.drawing import (
    ANSWER_LINE,
    LINE,
    STRIP,
    Box,
    Drawing,
    Ruler,
    draw_up,
    fold,
    text_ruler,
)
from arboretum.explain.labels import Labels, Wording, check_int, format_decimals, read_model
from arboretum.explain.mpl import require_pyplot
from arboretum.explain.pipeline import takes_pipelines
from arboretum.structure.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from arboretum.structure.tree import Tree

__all__ = ["add_legend", "legend_height", "plot_tree"]


# ---------------------------------------------------------------------- the legend
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
        handles,
        [name for name, _ in entries],
        loc="lower center",
        bbox_to_anchor=place,
        bbox_transform=ax.transData,
        ncol=columns,
        fontsize=em,
        frameon=False,
        handlelength=1.2,
        handleheight=0.8,
        columnspacing=1.4,
        labelspacing=0.4,
        borderpad=0,
        borderaxespad=0,
    )
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


_FONT = 9.0  # points, in a figure of our own
_SMALLEST_FONT = 7.0  # before the figure grows beyond _WIDEST
_LARGEST_FONT = 12.0  # in axes that are larger than the tree needs
_WIDEST = 24.0  # inches
_LIMIT = 400.0  # inches: matplotlib cannot save a much larger picture at 150 dots per inch
_MOST_LEAVES = 60  # of a tree that is drawn as a whole
_MOST_ENDS = 24  # leaves and folded branches of a larger one
_MARGIN = 0.8  # em
_TITLE_ROOM = 0.35  # inches above the tree, so that ax.set_title fits

_NOTE_ROOM = 1.8  # em below the legend, for a line of text
_LINE_COLOR = "#5b6770"
_FAINT_COLOR = "#c3cad0"  # a leaf without cases, and its edge
_EDGE_COLOR = "#a9b2ba"
_TEXT_COLOR = "#1d2329"


@takes_pipelines
def plot_tree(
    model: Any,
    *,
    tree: int | tuple[Any, Any] = 0,
    max_depth: int | None = None,
    feature_names: Any = None,
    class_names: Any = None,
    label: str = "all",
    filled: bool = True,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rounded: bool = True,
    precision: int = 3,
    ax: Axes | None = None,
    fontsize: float | None = None,
) -> Axes:
    """Draw a tree.

    A box shows the question of a node (bold) and its numbers; a leaf shows its prediction first.
    The colour is that of the largest class, paler where classes are mixed, and a strip shows their
    shares; in regression it is the predicted value. Wider edges carry more weight.
    A leaf of C4.5 is headed "class (3.4/0.4)": 3.4 cases, 0.4 of them of another class; leaves that no
    case reached are drawn faintly.
    Long names and lists of categories are shortened: `export_text` shows them whole.

    Parameters
    ----------
    model : fitted estimator, Tree, or fitted Pipeline that ends with an estimator
    tree : int or (int, int), default 0
        Which tree of an ensemble: an index, -1 for the last; for boosters also (round, class).
    max_depth : int, optional
        Splits deeper than this are folded into one grey box; the root has depth 0. None draws a tree of up to
        60 leaves as a whole, and the top levels of a larger one, with a note of how much is hidden.
    feature_names, class_names : list of str, optional
        Names to show instead of the model's own.
    label : {"all", "root", "none"}, default "all"
        Where numbers have names, such as "samples =".
    filled : bool, default True
        Colour the boxes and add a legend.
    impurity, node_ids : bool
        Show the impurity, or the gain of second-order boosting (default True); show node numbers
        (default False).
    proportion : bool, default False
        Show shares instead of counts and weights.
    rounded : bool, default True
        Round the corners of boxes.
    precision : int, default 3
        Decimals of impurity, thresholds and values.
    ax : matplotlib Axes, optional
        Where to draw; the font is made to fit. By default a new figure as large as the tree needs.
    fontsize : float, optional
        Size of the font in points. In axes too small for it boxes overlap. A tree of many hundred
        leaves gets a smaller font if its figure could not be saved otherwise; set ``max_depth`` to read it.

    Returns
    -------
    Axes
        The axes drawn on (scikit-learn returns a list of artists); ``ax.figure`` is the figure.

    Examples
    --------
    >>> from arboretum import CARTClassifier, plot_tree
    >>> from sklearn.datasets import load_iris
    >>> model = CARTClassifier(max_depth=3).fit(*load_iris(return_X_y=True))
    >>> ax = plot_tree(model)
    >>> ax.figure.savefig("iris.png", dpi=150)  # doctest: +SKIP
    """
    plt = require_pyplot("plot_tree")
    check_int(max_depth, "max_depth of plot_tree", 0, none=True)
    if fontsize is not None and not (isinstance(fontsize, Real) and fontsize > 0):
        raise ParameterError(
            f"fontsize of plot_tree must be a number > 0 or None, got {fontsize!r}"
        )
    labels = read_model(model, "plot_tree", feature_names, class_names, tree)
    wording = Wording(precision, at_most="≤", ellipsis="…", max_categories=4)
    style = BoxStyle.checked("plot_tree", label, impurity, node_ids, proportion, wording)
    ruler = text_ruler()
    shares = filled and labels.classes is not None and labels.tree.n_outputs == 1
    depth = _depth_to_draw(labels.tree) if max_depth is None else max_depth
    drawing = draw_up(labels, style, depth, ruler, strip=shares)
    legend = legend_height(labels, drawing.width, ruler) if filled else 0.0
    note = " · ".join(filter(None, [labels.note, _hidden(labels.tree, max_depth, depth)]))
    below = legend + (_NOTE_ROOM if note else 0.0)
    if ax is None:
        least = max(1.1 * ruler(labels.title, False), 0.9 * ruler(note, False))
        ax, em = _new_axes(plt, drawing, below, fontsize, least)
    else:
        em = _fit(ax, drawing, below, fontsize)
    _draw(ax, em, labels, drawing, filled=filled, rounded=rounded, shares=shares)
    if filled:
        add_legend(ax, em, labels, drawing.width, ruler, legend)
    if note:
        place = (drawing.width / 2, 0.6 - below)
        ax.text(*place, note, fontsize=0.9 * em, color=_LINE_COLOR, ha="center", va="center")
    if labels.title and not ax.get_title():
        ax.set_title(labels.title, fontsize=1.1 * em, color=_TEXT_COLOR, parse_math=False)
    return ax


# ---------------------------------------------------------------------- the part that is drawn
def _depth_to_draw(tree: Tree) -> int | None:
    """Return None for a tree that is readable as a whole, else the depth of the readable top."""
    if tree.n_leaves <= _MOST_LEAVES:
        return None
    depth = tree.depth
    boxes = np.bincount(depth)  # of every level
    is_leaf = tree.is_leaf
    leaves = np.cumsum(np.bincount(depth, weights=is_leaf, minlength=len(boxes)))
    ends = [leaves[d - 1] + boxes[d] if d else boxes[0] for d in range(len(boxes))]
    fitting = [d for d, n in enumerate(ends) if n <= _MOST_ENDS]
    return max(max(fitting) - 1, 0)


def _hidden(tree: Tree, max_depth: int | None, depth: int | None) -> str:
    """Return a note on how much of a large tree is hidden."""
    if max_depth is not None or depth is None:
        return ""
    below = int(np.count_nonzero(tree.depth > depth + 1))
    return (
        f"the top {depth + 1} of {tree.max_depth} levels: {below:,} of {tree.node_count:,} nodes are hidden, "
        "max_depth shows more"
    )


# ---------------------------------------------------------------------- the size of an em
def _new_axes(
    plt: Any, drawing: Drawing, below: float, fontsize: float | None, least: float
) -> tuple[Axes, float]:
    """Make a figure of the size the drawing needs, ``least`` em wide; return axes and em in points."""
    width = max(drawing.width, least) + 2 * _MARGIN
    height = drawing.height + below + 2 * _MARGIN
    em = fontsize or float(np.clip(72 * _WIDEST / width, _SMALLEST_FONT, _FONT))
    em = min(em, 72 * _LIMIT / max(width, height))
    inches = (width * em / 72, height * em / 72 + _TITLE_ROOM)
    figure = plt.figure(figsize=inches)
    ax = figure.add_axes((0, 0, 1, 1 - _TITLE_ROOM / inches[1]))
    _set_limits(ax, drawing, below, width, height)
    return ax, em


def _fit(ax: Axes, drawing: Drawing, below: float, fontsize: float | None) -> float:
    """Fit the drawing into given axes; return the em in points."""
    extent = ax.get_window_extent()
    points = 72 / ax.figure.dpi
    room_x, room_y = extent.width * points, extent.height * points
    width = drawing.width + 2 * _MARGIN
    height = drawing.height + below + 2 * _MARGIN
    em = fontsize or min(room_x / width, room_y / height, _LARGEST_FONT)
    drawing.stretch(room_y / em - below - 2 * _MARGIN)
    height = drawing.height + below + 2 * _MARGIN
    _set_limits(ax, drawing, below, max(width, room_x / em), max(height, room_y / em))
    return em


def _set_limits(ax: Axes, drawing: Drawing, below: float, width: float, height: float) -> None:
    middle_x, middle_y = drawing.width / 2, (drawing.height - below) / 2
    ax.set_xlim(middle_x - width / 2, middle_x + width / 2)
    ax.set_ylim(middle_y - height / 2, middle_y + height / 2)
    ax.set_axis_off()


# ---------------------------------------------------------------------- ink
def _draw(
    ax: Axes,
    em: float,
    labels: Labels,
    drawing: Drawing,
    *,
    filled: bool,
    rounded: bool,
    shares: bool,
) -> None:
    colors = node_colors(labels) if filled else None
    total = float(labels.tree.weight[0])
    for box in drawing.boxes:
        if box.parent >= 0:
            part = float(labels.tree.weight[box.node]) / total if total > 0 else 0.0
            _draw_edge(ax, em, drawing.boxes[box.parent], box, part)
    for box in drawing.boxes:
        fill = "white"
        if box.folded:
            fill = CUT
        elif colors is not None and not box.empty:
            fill = colors[box.node]
        _draw_box(ax, em, box, fill, rounded)
        if shares and not (box.folded or box.empty):
            _draw_shares(ax, labels, box)


def _draw_edge(ax: Axes, em: float, above: Box, box: Box, part: float) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    start = (above.x, above.bottom)
    end = (box.x, box.top + ANSWER_LINE * len(box.answer) + 0.25)
    middle = (start[1] + end[1]) / 2
    # An S-curve that leaves and arrives upright, with the answer between its end and the box.
    points = [start, (start[0], middle), (end[0], middle), end]
    path = Path(points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
    width = em / 9 * (0.8 + 4.0 * part)
    look = {"edgecolor": _FAINT_COLOR, "ls": "--"} if box.empty else {"edgecolor": _EDGE_COLOR}
    ax.add_patch(PathPatch(path, fill=False, linewidth=width, zorder=1, **look))
    for i, line in enumerate(reversed(box.answer)):
        ax.text(
            box.x,
            box.top + 0.1 + ANSWER_LINE * (i + 0.5),
            line,
            fontsize=0.9 * em,
            color=_LINE_COLOR,
            ha="center",
            va="center",
            parse_math=False,
            zorder=2,
        )


def _draw_box(ax: Axes, em: float, box: Box, fill: str, rounded: bool) -> None:
    from matplotlib.patches import FancyBboxPatch

    shape = "round,pad=0,rounding_size=0.55" if rounded else "square,pad=0"
    ax.add_patch(
        FancyBboxPatch(
            (box.x - box.width / 2, box.bottom),
            box.width,
            box.height,
            boxstyle=shape,
            facecolor=fill,
            edgecolor=_FAINT_COLOR if box.empty else _LINE_COLOR,
            linestyle="--" if box.empty else "-",
            linewidth=0.08 * em,
            zorder=3,
        )
    )
    y = box.top - 0.65
    for lines, weight in ((box.head, "bold"), (box.body, "normal")):
        for line in lines:
            ax.text(
                box.x,
                y - LINE / 2,
                line,
                fontsize=em,
                fontweight="normal" if box.empty else weight,
                color=_LINE_COLOR if box.empty else _TEXT_COLOR,
                ha="center",
                va="center",
                parse_math=False,
                zorder=5,
            )
            y -= LINE


def _draw_shares(ax: Axes, labels: Labels, box: Box) -> None:
    """Draw the strip of class shares at the foot of a box."""
    from matplotlib.patches import Rectangle

    share = labels.shares(box.node)[0]
    width = box.width - 1.3
    x = box.x - width / 2
    for color, part in zip(class_colors(len(share)), share):
        if part > 0:
            size = (width * float(part), STRIP)
            ax.add_patch(Rectangle((x, box.bottom + 0.4), *size, color=color, lw=0, zorder=4))
            x += size[0]
