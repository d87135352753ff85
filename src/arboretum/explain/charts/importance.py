"""The importance of columns as bars, each with its standard error where there is one.

    petal width   ████████████████├─┤
    petal length  ██████████████├──┤
    sepal length  ██├┤
    sepal width   ├┤

The largest stand at the top; a bar reaching below zero is a column that shuffling did not harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arboretum.base.members import listed
from arboretum.errors import ParameterError
from arboretum.explain.labels import check_int
from arboretum.explain.mpl import require_pyplot
from arboretum.explain.pipeline import takes_pipelines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["importances_of", "plot_importance"]

_BAR = "#4f9bc8"
_NEGATIVE = "#c3cad0"
_TEXT = "#1d2329"
_QUIET = "#5b6770"
_LONGEST_NAME = 32
_ROW = 0.3  # inches a bar takes


class _Bars(NamedTuple):
    """What is drawn."""

    names: Sequence[str]
    mean: np.ndarray
    error: np.ndarray  # zeros where nothing is known of it
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
        Of an estimator its ``feature_importances_`` (of stacking and voting the mean of their models');
        ``forest.permutation_importance(X, y)`` is slower and favours no column.
    top : int or None, default 20
        Show the so many most important columns; None: all.
    names : sequence of str, optional
        Names of the columns; scikit-learn's result does not know them.
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
    plt = require_pyplot("plot_importance")
    check_int(top, "top of plot_importance", 1, none=True)
    bars = _read(importance)
    if names is not None:
        if len(names) != len(bars.mean):
            raise ParameterError(f"names has {len(names)} names for {len(bars.mean)} columns")
        bars = bars._replace(names=list(names))
    order = np.argsort(-bars.mean, kind="stable")[:top]
    shown = [_shorten(str(bars.names[f])) for f in order]
    if ax is None:
        size = (7.5, 1.1 + _ROW * len(order))
        _, ax = plt.subplots(figsize=size, layout="constrained")
        ax.set_title(_title(importance), loc="left")
    _draw(ax, shown, bars.mean[order], np.nan_to_num(bars.error[order]))
    ax.set_xlabel(bars.measure)
    hidden = len(bars.mean) - len(order)
    if hidden:
        text = f"{hidden} less important {'column' if hidden == 1 else 'columns'} not shown"
        ax.set_title(text, fontsize="small", color=_QUIET, loc="right")
    return ax


def _read(importance: Any) -> _Bars:
    """Return what an estimator or a result says of columns."""
    if all(hasattr(importance, name) for name in ("mean", "standard_error", "names", "measure")):
        error = np.asarray(importance.standard_error, dtype=float)
        return _Bars(
            importance.names, np.asarray(importance.mean, float), error, importance.measure
        )
    if all(hasattr(importance, name) for name in ("importances_mean", "importances_std")):
        mean = np.asarray(importance.importances_mean, dtype=float)
        several = np.asarray(importance.importances).shape[1] if "importances" in importance else 1
        error = np.asarray(importance.importances_std, dtype=float) / np.sqrt(several)
        places = [f"x{f}" for f in range(len(mean))]
        return _Bars(places, mean, error, "loss of score when the column is shuffled")
    if hasattr(importance, "fit"):
        return _of_model(importance)
    raise ParameterError(
        "plot_importance draws a fitted estimator or the result of permutation_importance, got a "
        f"{type(importance).__name__}"
    )


def _of_model(model: Any) -> _Bars:
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    found = importances_of(model)
    if found is None:
        raise ParameterError(
            f"a {type(model).__name__} knows no importance of columns: plot that of "
            "sklearn.inspection.permutation_importance(model, X, y)"
        )
    schema = getattr(model, "schema_", None)
    known = getattr(model, "feature_names_in_", None)
    names = schema.names if schema is not None else known
    names = [f"x{f}" for f in range(len(found))] if names is None else list(names)
    kind = getattr(model, "importance_type", None)
    measure = "share of what the splits of a column gain"
    if found.sum() > 1.5:  # counts, as LightGBM tells them
        measure = f"importance ({kind})" if kind else "importance"
    elif kind:
        measure = f"share of importance ({kind})"
    elif isinstance(getattr(model, "estimators_", None), list) and not hasattr(model, "estimator_"):
        measure += ", mean of the models"
    return _Bars(names, found, np.zeros(len(found)), measure)


def importances_of(model: Any) -> np.ndarray | None:
    """Return the importance of every column; None for a model that knows none.

    Of models that answer together it is the mean of those that know theirs, as shares; of rules the share of
    the rows that reach a rule which asks about a column.

    Examples
    --------
    >>> from arboretum import CARTClassifier
    >>> importances_of(CARTClassifier().fit([[1, 5], [2, 5], [3, 5]], [0, 0, 1]))
    array([1., 0.])
    """
    own = getattr(model, "feature_importances_", None)
    if own is not None:
        return np.asarray(own, dtype=float)
    if hasattr(model, "rules_"):
        return _asked_by_rules(model)
    if hasattr(model, "coefficients_") and getattr(model, "trees_", None):
        return _weighed_stumps(model)
    each = [importances_of(member) for member in listed(getattr(model, "estimators_", ()))]
    known = [found / found.sum() for found in each if found is not None and found.sum() > 0]
    width = getattr(model, "n_features_in_", None)
    known = [found for found in known if len(found) == width]
    return np.mean(known, axis=0) if known else None


def _weighed_stumps(model: Any) -> np.ndarray:
    """Return, as shares, the weights of the stumps that ask about a column."""
    found = np.zeros(model.n_features_in_)
    for tree, weight in zip(model.trees_, model.ensemble_.weights):
        found[tree.feature[0]] += abs(float(weight)) * float(np.ptp(tree.value[tree.leaves]))
    return found / found.sum() if found.sum() > 0 else found


def _asked_by_rules(model: Any) -> np.ndarray:
    """Return, as shares, how many training rows are told by rules that ask about a column."""
    found = np.zeros(model.n_features_in_)
    for rule in model.rules_:
        for feature in {condition.feature for condition in rule.conditions}:
            found[feature] += rule.weight
    return found / found.sum() if found.sum() > 0 else found


def _title(importance: Any) -> str:
    if hasattr(importance, "fit"):
        return f"{type(importance).__name__}: importance of columns"
    return "Permutation importance"


def _draw(ax: Axes, names: list[str], mean: np.ndarray, error: np.ndarray) -> None:
    places = np.arange(len(mean))
    colors = [_BAR if m > 0 else _NEGATIVE for m in mean]
    look = {"ecolor": _TEXT, "elinewidth": 1.1, "capsize": 2.5, "capthick": 1.1}
    whiskers: dict[str, Any] = {"xerr": error, "error_kw": look} if error.any() else {}
    ax.barh(places, mean, height=0.68, color=colors, **whiskers)
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
