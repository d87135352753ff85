"""The importance of columns as bars, each with its standard error if there is one.

    petal width   ████████████████├─┤
    petal length  ██████████████├──┤
    sepal length  ██├┤
    sepal width   ├┤

The largest are at the top. A bar below zero: shuffling the column did not increase the error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from arboretum.base.anatomy import has_anatomy
from arboretum.errors import ParameterError
from arboretum.explain.dependence.importances import importances_of
from arboretum.explain.labels import check_int
from arboretum.explain.mpl import QUIET, TEXT, axes_for, require_pyplot, tidy
from arboretum.explain.pipeline import names_of, takes_pipelines
from arboretum.forest.importance import Importance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_importance"]

_BAR = "#4f9bc8"
_NEGATIVE = "#c3cad0"
_LONGEST_NAME = 32
_ROW = 0.3  # inches a bar takes


class _Bars(NamedTuple):
    """The bars to draw."""

    names: Sequence[str]
    mean: np.ndarray
    error: np.ndarray  # zeros where there is none
    measure: str


@takes_pipelines
def plot_importance(
    importance: Any,
    *,
    top: int | None = 20,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the importance of columns as horizontal bars; a whisker is one standard error.

    Parameters
    ----------
    importance : fitted estimator, Importance, or result of sklearn.inspection.permutation_importance
        For an estimator, its ``feature_importances_`` (for stacking and voting, the mean over their models);
        ``forest.permutation_importance(X, y)`` is slower and unbiased.
    top : int or None, default 20
        Number of columns to show, most important first; None: all.
    names : sequence of str, optional
        Names of the columns; scikit-learn's result has none.
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
    >>> ax = plot_importance(forest)
    >>> ax = plot_importance(permutation_importance(forest, X, y))
    >>> ax.figure.savefig("importance.png", dpi=150)  # doctest: +SKIP
    """
    require_pyplot("plot_importance")
    check_int(top, "top of plot_importance", 1, none=True)
    bars = _read(importance)
    if names is not None:
        if len(names) != len(bars.mean):
            raise ParameterError(f"names has {len(names)} names for {len(bars.mean)} columns")
        bars = bars._replace(names=list(names))
    order = np.argsort(-bars.mean, kind="stable")[:top]
    shown = [_shorten(str(bars.names[f])) for f in order]
    title = "Permutation importance"
    if isinstance(importance, BaseEstimator):
        title = f"{type(importance).__name__}: importance of columns"
    size = (7.5, 1.1 + _ROW * len(order))
    ax = axes_for("plot_importance", ax, size, title=title, loc="left")
    _draw(ax, shown, bars.mean[order], np.nan_to_num(bars.error[order]))
    ax.set_xlabel(bars.measure)
    hidden = len(bars.mean) - len(order)
    if hidden:
        text = f"{hidden} less important {'column' if hidden == 1 else 'columns'} not shown"
        ax.set_title(text, fontsize="small", color=QUIET, loc="right")
    return ax


def _read(importance: Any) -> _Bars:
    """Return names, means and errors of an estimator, an `Importance` or a result of scikit-learn."""
    if isinstance(importance, Importance):
        error = np.asarray(importance.standard_error, dtype=float)
        return _Bars(importance.names, np.asarray(importance.mean), error, importance.measure)
    if isinstance(importance, BaseEstimator):
        return _of_model(importance)
    if not isinstance(importance, Mapping) or "importances_mean" not in importance:
        raise ParameterError(
            "plot_importance draws a fitted estimator or the result of permutation_importance, got a "
            f"{type(importance).__name__}"
        )
    mean = np.asarray(importance["importances_mean"], dtype=float)
    several = np.asarray(importance["importances"]).shape[1] if "importances" in importance else 1
    error = np.asarray(importance["importances_std"], dtype=float) / np.sqrt(several)
    names = [f"x{f}" for f in range(len(mean))]
    return _Bars(names, mean, error, "loss of score when the column is shuffled")


def _of_model(model: Any) -> _Bars:
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    found = importances_of(model)
    if found is None:
        raise ParameterError(
            f"a {type(model).__name__} has no importances of columns: plot the result of "
            "sklearn.inspection.permutation_importance(model, X, y)"
        )
    names = names_of(model, len(found))
    kind = model.get_params(deep=False).get("importance_type")
    measure = "share of the gain of all splits"
    if found.sum() > 1.5:  # counts, LightGBM's default
        measure = f"importance ({kind})" if kind else "importance"
    elif kind:
        measure = f"share of importance ({kind})"
    elif has_anatomy(model) and model._anatomy().family in ("stack", "vote"):
        measure += ", mean of the models"
    return _Bars(names, found, np.zeros(len(found)), measure)


def _draw(ax: Axes, names: list[str], mean: np.ndarray, error: np.ndarray) -> None:
    places = np.arange(len(mean))
    colors = [_BAR if m > 0 else _NEGATIVE for m in mean]
    look = {"ecolor": TEXT, "elinewidth": 1.1, "capsize": 2.5, "capthick": 1.1}
    whiskers: dict[str, Any] = {"xerr": error, "error_kw": look} if error.any() else {}
    ax.barh(places, mean, height=0.68, color=colors, **whiskers)
    ax.set_yticks(places, labels=names)
    ax.set_ylim(len(mean) - 0.4, -0.6)  # the largest at the top
    ax.tick_params(axis="y", length=0, labelcolor=TEXT)
    ax.axvline(0, color=QUIET, lw=0.8)
    tidy(ax, "x", ("top", "right", "left"))


def _shorten(name: str) -> str:
    name = " ".join(name.split())
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
