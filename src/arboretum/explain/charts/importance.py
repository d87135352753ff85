"""The importance of columns as bars, each with its standard error.

    petal width   ████████████████├─┤
    petal length  ██████████████├──┤
    sepal length  ██├┤
    sepal width   ├┤

The largest stand at the top; a bar reaching below zero is a column that shuffling did not harm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.errors import ParameterError
from arboretum.explain.labels import check_int
from arboretum.explain.mpl import require_pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_importance"]

_BAR = "#4f9bc8"
_NEGATIVE = "#c3cad0"
_TEXT = "#1d2329"
_QUIET = "#5b6770"
_LONGEST_NAME = 32
_ROW = 0.3  # inches a bar takes


def plot_importance(importance: Any, *, top: int | None = 20, ax: Axes | None = None) -> Axes:
    """Draw the importance of columns as horizontal bars; a whisker is one standard error.

    Parameters
    ----------
    importance : Importance
        From ``forest.permutation_importance(X, y)``: anything with ``mean``, ``standard_error``,
        ``names`` and ``measure``.
    top : int or None, default 20
        Show the so many most important columns; None: all.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure, as high as the bars need.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from arboretum import RandomForestClassifier
    >>> from arboretum.forest.importance import permutation_importance
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> ax = plot_importance(permutation_importance(forest, X, y))
    >>> ax.figure.savefig("importance.png", dpi=150)  # doctest: +SKIP
    """
    plt = require_pyplot("plot_importance")
    check_int(top, "top of plot_importance", 1, none=True)
    if not all(hasattr(importance, name) for name in ("mean", "standard_error", "names")):
        raise ParameterError(
            "plot_importance needs the result of permutation_importance, got a "
            f"{type(importance).__name__}: call forest.permutation_importance(X, y) first"
        )
    mean = np.asarray(importance.mean, dtype=float)
    order = np.argsort(-mean, kind="stable")[:top]
    mean, error = mean[order], np.asarray(importance.standard_error, dtype=float)[order]
    names = [_shorten(str(importance.names[f])) for f in order]
    if ax is None:
        size = (7.5, 1.1 + _ROW * len(order))
        _, ax = plt.subplots(figsize=size, layout="constrained")
    _draw(ax, names, mean, np.nan_to_num(error))
    ax.set_xlabel(importance.measure)
    hidden = len(importance.names) - len(order)
    if hidden:
        text = f"{hidden} less important {'column' if hidden == 1 else 'columns'} not shown"
        ax.set_title(text, fontsize="small", color=_QUIET, loc="right")
    return ax


def _draw(ax: Axes, names: list[str], mean: np.ndarray, error: np.ndarray) -> None:
    places = np.arange(len(mean))
    colors = [_BAR if m > 0 else _NEGATIVE for m in mean]
    look = {"ecolor": _TEXT, "elinewidth": 1.1, "capsize": 2.5, "capthick": 1.1}
    ax.barh(places, mean, height=0.68, color=colors, xerr=error, error_kw=look)
    ax.set_yticks(places, labels=names)
    for label in ax.get_yticklabels():
        label.set_parse_math(False)  # a name may hold dollar signs
    ax.set_ylim(len(mean) - 0.4, -0.6)  # the largest at the top
    ax.tick_params(axis="y", length=0, labelcolor=_TEXT)
    ax.axvline(0, color=_QUIET, lw=0.8)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.grid(axis="x", color="#e6e9ec", lw=0.8)
    ax.set_axisbelow(True)


def _shorten(name: str) -> str:
    name = " ".join(name.split())
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
