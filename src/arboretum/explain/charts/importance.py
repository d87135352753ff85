"""The importance of columns as bars, each with its standard error if there is one.

    petal width   ████████████████├─┤
    petal length  ██████████████├──┤
    sepal length  ██├┤
    sepal width   ├┤

The largest are at the top. A bar below zero: shuffling the column did not increase the error.

Boosters under XGBoost's and LightGBM's names, and dicts of scores, are drawn as those libraries draw them:
their measures, thin bars with numbers, titles and a grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.explain.charts.importance_bars import Bars, read_bars
from arboretum.explain.labels import check_int
from arboretum.explain.mpl import QUIET, TEXT, axes_for, frame, require_pyplot, tidy
from arboretum.explain.other_names import takes_other_names
from arboretum.explain.pipeline import takes_pipelines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_importance"]

_BAR = "#4f9bc8"
_NEGATIVE = "#c3cad0"
_LONGEST_NAME = 32
_ROW = 0.3  # inches a bar takes
_TOP = 20


@takes_other_names
@takes_pipelines
def plot_importance(
    importance: Any,
    ax: Axes | None = None,
    *,
    top: int | str | None = "auto",
    names: Sequence[str] | None = None,
    importance_type: str = "auto",
    ignore_zero: bool = True,
    height: float | None = None,
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
    title: str | None = "auto",
    xlabel: str | None = "auto",
    ylabel: str | None = "auto",
    grid: bool | None = None,
    show_values: bool | None = None,
    values_format: str | None = None,
    precision: int | None = 3,
    figsize: tuple[float, float] | None = None,
    dpi: float | None = None,
    **bars: Any,
) -> Axes:
    """Draw the importance of columns as horizontal bars; a whisker is one standard error.

    Parameters
    ----------
    importance : fitted estimator, booster, Importance, dict, or result of permutation_importance
        For an estimator, its ``feature_importances_`` (for stacking and voting, the mean over their models);
        ``forest.permutation_importance(X, y)`` is slower and unbiased. Estimators and boosters under
        XGBoost's and LightGBM's names, and dicts as ``get_score`` returns, are drawn as those libraries do.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure, as high as the bars need.
    top : int or None, default 20
        Number of columns to show, most important first; None: all, the default for boosters.
        XGBoost's and LightGBM's ``max_num_features`` is the same.
    names : sequence of str, optional
        Names of all columns; scikit-learn's result has none. XGBoost's ``fmap`` names a file of them.
    importance_type : str, optional
        What is measured: "weight", "gain", "cover", "total_gain", "total_cover" as in XGBoost (default
        "weight"), "split" and "gain" as in LightGBM (default: the estimator's), "gain", "cover" and
        "split" of other models.
    ignore_zero : bool, default True
        Leave out a booster's columns without splits.
    height : float, optional
        Of a bar; 1 leaves no gap.
    xlim, ylim : (float, float), optional
    title, xlabel, ylabel : str or None, optional
        Texts; None: none. "@importance_type@" in ``xlabel`` is replaced.
    grid, show_values : bool, optional
        Draw lines; write the numbers beside the bars. Boosters have both by default.
    values_format : str, optional
        How numbers are written, such as "{v:.2f}".
    precision : int or None, default 3
        Decimals of gains and shares.
    figsize, dpi
        Size of the new figure in inches, and its dots per inch.
    **bars
        Arguments of ``ax.barh``, such as ``color``.

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
    >>> ax = plot_importance(forest)
    >>> ax = plot_importance(permutation_importance(forest, X, y))
    >>> ax.figure.savefig("importance.png", dpi=150)  # doctest: +SKIP
    """
    require_pyplot("plot_importance")
    found = read_bars(importance, importance_type, names, ignore_zero, precision)
    most = (None if found.peer else _TOP) if top == "auto" else top
    check_int(most, "top of plot_importance", 1, none=True)
    order = np.argsort(-found.mean, kind="stable")[:most]
    size = figsize or (None if found.peer else (7.5, 1.1 + _ROW * len(order)))
    heading = "" if found.peer or title != "auto" else found.title
    ax = axes_for("plot_importance", ax, size, dpi=dpi, title=heading, loc="left")
    if found.peer:  # from the bottom to the top
        order = np.argsort(found.mean, kind="stable")[len(found.mean) - len(order) :]
        xlim = xlim or (0, 1.1 * float(found.mean.max()))
        ylim, grid = ylim or (-1, len(order)), grid is None or grid
        _draw_thin(ax, found, order, {"height": 0.2 if height is None else height, **bars})
    else:
        _draw(ax, found, order, {"height": 0.68 if height is None else height, **bars})
    if found.peer if show_values is None else show_values:
        _write_values(ax, found.mean[order], values_format or found.texts)
    usual = (found.title if found.peer else None, found.measure, "Features" if found.peer else None)
    texts = [
        own if given == "auto" else given for given, own in zip((title, xlabel, ylabel), usual)
    ]
    texts[1] = texts[1] and texts[1].replace("@importance_type@", found.kind)
    frame(ax, texts, xlim, ylim, grid)
    hidden = len(found.mean) - len(order)
    if hidden and not found.peer:
        text = f"{hidden} less important {'column' if hidden == 1 else 'columns'} not shown"
        ax.set_title(text, fontsize="small", color=QUIET, loc="right")
    return ax


def _draw(ax: Axes, found: Bars, order: np.ndarray, look: dict[str, Any]) -> None:
    """Draw wide bars, the largest first, with standard errors."""
    mean, error = found.mean[order], np.nan_to_num(found.error[order])
    colors = [_BAR if m > 0 else _NEGATIVE for m in mean]
    ends = {"ecolor": TEXT, "elinewidth": 1.1, "capsize": 2.5, "capthick": 1.1}
    whiskers: dict[str, Any] = {"xerr": error, "error_kw": ends} if error.any() else {}
    ax.barh(np.arange(len(order)), mean, **{"color": colors, **whiskers, **look})
    labels = [_shorten(str(found.names[f])) for f in order]
    ax.set_yticks(np.arange(len(order)), labels=labels)
    ax.set_ylim(len(mean) - 0.4, -0.6)  # the largest at the top
    ax.tick_params(axis="y", length=0, labelcolor=TEXT)
    ax.axvline(0, color=QUIET, lw=0.8)
    tidy(ax, "x", ("top", "right", "left"))


def _draw_thin(ax: Axes, found: Bars, order: np.ndarray, look: dict[str, Any]) -> None:
    """Draw thin bars, the smallest first."""
    places = np.arange(len(order))
    ax.barh(places, found.mean[order], **look)
    ax.set_yticks(places, labels=[str(found.names[f]) for f in order])
    for label in ax.get_yticklabels():
        label.set_parse_math(False)  # a name may contain dollar signs


def _write_values(ax: Axes, values: np.ndarray, form: str) -> None:
    for place, value in enumerate(values):
        text = form.format(v=value)
        ax.annotate(text, (value, place), (3, 0), textcoords="offset points", va="center")


def _shorten(name: str) -> str:
    name = " ".join(name.split())
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
