"""A tree as a picture, drawn with matplotlib.

The boxes and their positions come from `drawing.py`, measured in em. Here the size of an em
in points is chosen: a new figure is as large as the drawing needs; given axes determine the font size.

Below the tree stands a legend: one patch per class, or the scale of predicted values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.errors import ParameterError
from arboretum.explain.boxes import BoxStyle
from arboretum.explain.drawing import Drawing, draw_up, text_ruler
from arboretum.explain.ink import draw_tree
from arboretum.explain.labels import Wording, check_int, labels_of
from arboretum.explain.legend import add_legend, legend_height
from arboretum.explain.look import TreeLook, path_of
from arboretum.explain.mpl import QUIET, TEXT, axes_for, require_pyplot
from arboretum.explain.other_names import names_of_booster, takes_other_names
from arboretum.explain.pick_tree import pick_tree
from arboretum.explain.pipeline import takes_pipelines
from arboretum.structure.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_tree"]


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


@takes_other_names
@takes_pipelines
def plot_tree(
    model: Any,
    ax: Axes | None = None,
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
    rotate: bool = False,
    show_info: Sequence[str] | None = None,
    max_category_values: int = 4,
    example_case: Any = None,
    yes_color: str | None = None,
    no_color: str | None = None,
    condition_node_params: Mapping[str, Any] | None = None,
    leaf_node_params: Mapping[str, Any] | None = None,
    figsize: tuple[float, float] | None = None,
    dpi: float | None = None,
    fontsize: float | None = None,
    **other_names: Any,
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
    ax : matplotlib Axes, optional
        Where to draw; the font is made to fit. By default a new figure as large as the tree needs.
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
    rotate : bool, default False
        Grow from left to right.
    show_info : list of str, optional
        LightGBM's names of the lines to show in place of all others: "split_gain", "internal_value",
        "internal_weight", "internal_count", "leaf_weight", "leaf_count", "data_percentage".
    max_category_values : int, default 4
        Categories that a box lists.
    example_case : table of one row, optional
        Its path is highlighted.
    yes_color, no_color : str, optional
        Colours of edges.
    condition_node_params, leaf_node_params : dict, optional
        "fillcolor", "color" and "fontcolor" of boxes, as in `to_graphviz`.
    figsize : (float, float), optional
        Width and height of the new figure, in inches.
    dpi : float, optional
        Its dots per inch.
    fontsize : float, optional
        Size of the font in points. In axes too small for it boxes overlap. A tree of many hundred
        leaves gets a smaller font if its figure could not be saved otherwise; set ``max_depth`` to read it.
    **other_names
        XGBoost's ``booster``, ``tree_idx``, ``num_trees``, ``rankdir``, ``with_stats`` and ``fmap``,
        LightGBM's ``booster``, ``tree_index`` and ``orientation``.

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
    check_int(max_category_values, "max_category_values of plot_tree", 1)
    if fontsize is not None and not (isinstance(fontsize, Real) and fontsize > 0):
        raise ParameterError(
            f"fontsize of plot_tree must be a number > 0 or None, got {fontsize!r}"
        )
    picked = pick_tree(model, tree, "plot_tree")
    names = names_of_booster(model) if feature_names is None else feature_names
    labels = labels_of(picked, "plot_tree", names, class_names)
    path = path_of(picked.anatomy, picked.tree, example_case)
    look = TreeLook(yes_color, no_color, condition_node_params or {}, leaf_node_params or {}, path)
    wording = Wording(precision, at_most="≤", ellipsis="…", max_categories=max_category_values)
    style = BoxStyle.checked("plot_tree", label, impurity, node_ids, proportion, wording, show_info)
    ruler = text_ruler()
    shares = filled and labels.classes is not None and labels.tree.n_outputs == 1
    depth = _depth_to_draw(labels.tree) if max_depth is None else max_depth
    drawing = draw_up(labels, style, depth, ruler, strip=shares, sideways=rotate)
    legend = legend_height(labels, drawing.width, ruler) if filled else 0.0
    note = " · ".join(filter(None, [labels.note, _hidden(labels.tree, max_depth, depth)]))
    below = legend + (_NOTE_ROOM if note else 0.0)
    least = max(1.1 * ruler(labels.title, False), 0.9 * ruler(note, False))
    ax, em = _place(plt, ax, drawing, (least, below), fontsize, figsize, dpi)
    draw_tree(ax, em, labels, drawing, look, filled=filled, rounded=rounded, shares=shares)
    if filled:
        add_legend(ax, em, labels, drawing.width, ruler, legend)
    if note:
        place = (drawing.width / 2, 0.6 - below)
        ax.text(*place, note, fontsize=0.9 * em, color=QUIET, ha="center", va="center")
    if labels.title and not ax.get_title():
        ax.set_title(labels.title, fontsize=1.1 * em, color=TEXT, parse_math=False)
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
def _place(
    plt: Any,
    ax: Axes | None,
    drawing: Drawing,
    room: tuple[float, float],
    fontsize: float | None,
    figsize: tuple[float, float] | None,
    dpi: float | None,
) -> tuple[Axes, float]:
    """Return axes and em in points; ``room`` is the least width, and the height below the tree, in em."""
    least, below = room
    if ax is not None or figsize is not None:
        ax = axes_for("plot_tree", ax, figsize, dpi=dpi)
        return ax, _fit(ax, drawing, below, fontsize)
    width = max(drawing.width, least) + 2 * _MARGIN
    height = drawing.height + below + 2 * _MARGIN
    em = fontsize or float(np.clip(72 * _WIDEST / width, _SMALLEST_FONT, _FONT))
    em = min(em, 72 * _LIMIT / max(width, height))
    inches = (width * em / 72, height * em / 72 + _TITLE_ROOM)
    figure = plt.figure(figsize=inches, dpi=dpi)
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
