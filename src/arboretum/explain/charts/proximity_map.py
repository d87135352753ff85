"""A heat map of proximities: rows class by class, similar rows side by side.

For a numeric target, rows are in the order of the target, with a band of its colours:

    classes   ▌a  ██·           numbers   ▌ 9  ██▓·
              ▌a  ██·                     ▌ 5  ▓██▓
              ▌b  ··█                     ▌ 1  ·▓██

Blocks on the diagonal are groups of rows that the trees hardly separate; a bright stripe that leaves
its block belongs to rows the forest finds in another class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.base.anatomy import has_anatomy
from arboretum.errors import DataError
from arboretum.explain.colors import class_colors
from arboretum.explain.mpl import QUIET, axes_for
from arboretum.explain.pipeline import takes_pipelines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_proximity"]

_MOST_ROWS = 5000
_MOST_NAMES = 12
_MOST_CLASSES = 20  # different whole numbers that may still be classes
_SCALE = 6  # numbers on the scale at the edge


@takes_pipelines
def plot_proximity(source: Any, X: Any = None, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw proximities as a heat map: ``plot_proximity(forest, X, y)`` or ``plot_proximity(P, y)``.

    Parameters
    ----------
    source : forest, or array or sparse matrix of shape (n, n)
        A fitted forest, or the result of its ``proximity(X)``. At most 5,000 rows.
    X : table
        The rows to draw; left out for a matrix, so that y may be the second argument.
    y : array-like of shape (n,), optional
        Classes: rows are sorted by class, with a coloured edge that names them. Numbers (floats, or more
        than 20 different integers): rows are sorted by number, with a coloured edge and its scale.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from arboretum import RandomForestClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> ax = plot_proximity(forest, X, y)
    """
    from scipy.sparse import issparse

    from arboretum.forest.proximity import proximity
    from arboretum.forest.proximity_geometry import order_rows

    if has_anatomy(source):
        if X is None:
            raise DataError(
                "plot_proximity of a forest needs the rows to draw: plot_proximity(forest, X)"
            )
        given = proximity(source, X)
    else:
        given, y = source, X if y is None else y
    proximities: Any = given if issparse(given) else np.asarray(given)
    n = proximities.shape[0] if proximities.ndim else 0
    if n > _MOST_ROWS:
        raise DataError(
            f"plot_proximity draws at most {_MOST_ROWS:,} rows, got {n:,}: select some, for example "
            "P[rows][:, rows]"
        )
    values = None if y is None else _quantities(y)
    order = order_rows(proximities, y) if values is None else np.argsort(-values, kind="stable")
    P = proximities.toarray() if issparse(proximities) else proximities
    P = np.maximum(P, P.T)[
        np.ix_(order, order)
    ]  # with nearest rows only, one of the two entries may be missing
    ax = axes_for("plot_proximity", ax, (7.6, 6.2), layout="compressed")
    picture = ax.imshow(P, cmap="magma_r", vmin=0.0, vmax=1.0, interpolation="nearest")
    bar = ax.figure.colorbar(picture, ax=ax, fraction=0.045, pad=0.02)
    bar.set_label("share of the trees in which two rows share a leaf")
    bar.outline.set_visible(False)
    for side in ax.spines.values():
        side.set_visible(False)
    ax.set_xticks([])
    ax.set_yticks([])  # the place of a row in the map is not its number
    ax.set_xlabel("rows, similar ones side by side")
    if values is not None:
        _mark_numbers(ax, values[order])
    elif y is not None:
        _mark_classes(ax, np.asarray(y)[order])
    return ax


def _quantities(y: Any) -> np.ndarray | None:
    """Return a target of numbers; None if its values are classes."""
    values = np.asarray(y)
    if values.dtype.kind not in "fiu" or values.ndim != 1:
        return None
    few = len(np.unique(values)) <= _MOST_CLASSES
    whole = values.dtype.kind in "iu" or bool(np.all(values == np.floor(values)))
    return None if few and whole else values.astype(np.float64)


def _mark_numbers(ax: Axes, values: np.ndarray) -> None:
    """Draw bands of the numbers' colours along left and top, with a scale of some of them."""
    import matplotlib as mpl

    n, width = len(values), 0.03 * len(values)
    colors = mpl.colormaps["viridis"]
    for extent, line in (
        ((-0.5 - 1.5 * width, -0.5 - 0.5 * width, n - 0.5, -0.5), values[:, None]),
        ((-0.5, n - 0.5, -0.5 - 0.5 * width, -0.5 - 1.5 * width), values[None, :]),
    ):
        ax.imshow(line, cmap=colors, extent=extent, aspect="auto", interpolation="nearest")
    ax.set_aspect("equal")
    ax.set_xlim(-0.5 - 2 * width, n - 0.5)
    ax.set_ylim(n - 0.5, -0.5 - 2 * width)
    rows = np.unique(np.linspace(0, n - 1, min(_SCALE, n)).astype(int))
    ax.set_yticks(rows, [f"{values[row]:.4g}" for row in rows])
    ax.tick_params(length=0)
    ax.set_xlabel("rows, from the largest target to the smallest")


def _mark_classes(ax: Axes, labels: np.ndarray) -> None:
    """Name the classes along the left edge and draw a band of their colours along left and top."""
    n = len(labels)
    starts = np.flatnonzero(np.r_[True, labels[1:] != labels[:-1]])
    ends = np.r_[starts[1:], n]
    colors = class_colors(len(starts))
    width = 0.018 * n
    for lo, hi, color in zip(starts.tolist(), ends.tolist(), colors):
        for corner, size in (
            ((-0.5 - 1.5 * width, lo - 0.5), (width, hi - lo)),
            ((lo - 0.5, -0.5 - 1.5 * width), (hi - lo, width)),
        ):
            ax.add_patch(_band(corner, size, color))
        for line in (ax.axhline, ax.axvline):
            if lo:
                line(lo - 0.5, color=QUIET, lw=0.6)
    ax.set_xlim(-0.5 - 2 * width, n - 0.5)
    ax.set_ylim(n - 0.5, -0.5 - 2 * width)
    middle = (starts + ends - 1) / 2
    shown = slice(None) if len(starts) <= _MOST_NAMES else slice(0, 0)
    names = [str(label) for label in labels[starts].tolist()]
    ax.set_yticks(middle[shown], names[shown])
    ax.tick_params(length=0)
    ax.set_xlabel("rows, class by class, similar ones side by side")


def _band(corner: tuple[float, float], size: tuple[float, float], color: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(corner, *size, facecolor=color, edgecolor="none")
