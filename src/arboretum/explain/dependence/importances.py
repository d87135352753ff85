"""One question, six answers: what is a column worth to a model?

    kind              what is measured                            needs        favours columns
    gain              what its splits gain, as a share            -            of many values
    cover             rows that its splits part, as a share       -            asked near the root
    split             how often it is asked for                   -            of many values
    permutation       loss when it is shuffled                    X, y         none
    oob_permutation   the same, on rows a tree has not seen       X, y (fit)   none
    shap              mean |SHAP value|: how it moves the sum     X            none

The first three look at the trees and say what the model uses; the others at rows, and say what it needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.engine.keys import seed_from
from arboretum.errors import DataError, ParameterError
from arboretum.explain.charts.importance import importances_of
from arboretum.explain.dependence.asking import Asked, matrix_of
from arboretum.explain.pick_tree import trees_of
from arboretum.explain.pipeline import takes_pipelines
from arboretum.forest.importance import Importance, permutation_importance

__all__ = ["KINDS", "feature_importances", "row_losses"]

KINDS = ("gain", "cover", "split", "permutation", "oob_permutation", "shap")
_MOST_CELLS = 1 << 24  # rows times columns of a table that is shuffled at a time


@takes_pipelines
def feature_importances(
    model: Any,
    kind: str = "gain",
    X: Any = None,
    y: Any = None,
    *,
    n_repeats: int = 5,
    random_state: Any = 0,
) -> Importance:
    """Return what every column is worth to a fitted model.

    Parameters
    ----------
    model : fitted estimator of this library, or a Pipeline that ends with one
    kind : {"gain", "cover", "split", "permutation", "oob_permutation", "shap"}, default="gain"
        See the table in the module's text. "permutation" is the loss that shuffling a column causes: the
        share of wrong classes, or the mean squared error. "oob_permutation" is Breiman's, of forests grown
        with ``bootstrap=True``; X and y are then the training table.
    X, y : table and target
        Rows to measure on; only for the last three kinds, "shap" needs X alone.
    n_repeats : int, default=5
        How often "permutation" shuffles a column.
    random_state : int, RandomState or None, default=0
        Of the shuffles.

    Returns
    -------
    Importance
        ``mean``, ``standard_error`` (NaN where nothing was repeated), ``names``, ``measure``;
        `plot_importance` draws it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from arboretum import XGBClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = XGBClassifier(n_estimators=5).fit(X, y)
    >>> splits = sum(tree.node_count - tree.n_leaves for tree in model.trees_)
    >>> int(feature_importances(model, "split").mean.sum()) == splits
    True
    >>> feature_importances(model, "permutation", X, y).order[0] in (2, 3)
    True
    """
    if kind not in KINDS:
        raise ParameterError(f"kind of feature_importances must be one of {KINDS}, got {kind!r}")
    matrix_needed = kind in ("permutation", "oob_permutation", "shap")
    if matrix_needed and (X is None or (y is None and kind != "shap")):
        needed = "X" if kind == "shap" else "X and y"
        raise ParameterError(f"importances of kind {kind!r} are measured on rows: give {needed}")
    if kind == "permutation":
        return _permutation(model, X, y, n_repeats, random_state)
    if kind == "oob_permutation":
        if not hasattr(model, "_bags") or not hasattr(model, "trees_"):
            raise ParameterError(
                f"{type(model).__name__} draws no bags of rows, so none are out of bag: use "
                "kind='permutation' on rows held out"
            )
        return permutation_importance(model, X, y)
    if kind == "shap":
        return _shap(model, X)
    return _of_trees(model, kind)


# ---------------------------------------------------------------------- by the trees
def _of_trees(model: Any, kind: str) -> Importance:
    found = _by_splits(model, kind)
    if found is None:
        raise ParameterError(
            f"{type(model).__name__} has no splits to count for kind={kind!r}: use kind='permutation' "
            "with rows"
        )
    measures = {
        "gain": "share of what the splits of a column gain",
        "cover": "share of the rows that the splits of a column part",
        "split": "splits that ask for a column",
    }
    return Importance(found[None], model.schema_.names, measures[kind])


def _by_splits(model: Any, kind: str) -> np.ndarray | None:
    """Return gains, covers or counts of a model's own trees, or the mean of its members' shares."""
    trees = trees_of(model)
    if kind == "gain" and not hasattr(model, "_importance"):
        return importances_of(model)
    if trees:
        total = np.zeros(model.schema_.n_features)
        for tree in trees:
            inner = ~tree.is_leaf
            much = {"gain": tree.gain, "cover": tree.weight, "split": np.ones(len(tree))}[kind]
            total += np.bincount(tree.feature[inner], much[inner], len(total))
        if kind == "cover" and not total.any():
            return None  # stumps of a dictionary keep no rows
        return total if kind == "split" else _shares(total)
    members = [m for m in getattr(model, "estimators_", ()) if hasattr(m, "schema_")]
    width = getattr(getattr(model, "schema_", None), "n_features", 0)
    each = [_by_splits(m, kind) for m in members if m.schema_.n_features == width]
    known = [one for one in each if one is not None]
    if not known:
        return None
    return (
        np.sum(known, axis=0)
        if kind == "split"
        else _shares(np.sum([_shares(k) for k in known], axis=0))
    )


def _shares(total: np.ndarray) -> np.ndarray:
    return total / total.sum() if total.sum() > 0 else total


# ---------------------------------------------------------------------- by rows
def _permutation(model: Any, X: Any, y: Any, n_repeats: int, random_state: Any) -> Importance:
    if not isinstance(n_repeats, int | np.integer) or n_repeats < 1:
        raise ParameterError(f"n_repeats must be an int of at least 1, got {n_repeats!r}")
    ask, matrix = Asked(model), matrix_of(model, X)
    rows = np.array(matrix.rows(0, matrix.n_rows))
    truth = np.asarray(y)
    if len(truth) != len(rows):
        raise DataError(f"X has {len(rows)} rows and y has {len(truth)}")
    before = row_losses(ask, ask(rows), truth).mean()
    rng = np.random.default_rng(seed_from(random_state))
    found = np.zeros((n_repeats, rows.shape[1]))
    used = _asked_columns(model, rows.shape[1])
    for f in range(rows.shape[1]):
        column = rows[:, f].copy()
        for repeat in range(n_repeats):
            order = rng.permutation(len(rows))
            if f in used:
                rows[:, f] = column[order]
                found[repeat, f] = row_losses(ask, ask(rows), truth).mean() - before
        rows[:, f] = column
    what = "mean squared error" if ask.labels is None else "share of wrong classes"
    return Importance(found, model.schema_.names, f"increase of the {what} when shuffled")


def _asked_columns(model: Any, n_columns: int) -> set[int]:
    """Return the columns that the model can ask for; shuffling others changes nothing."""
    trees = trees_of(model)
    if not trees or hasattr(model, "stack_method_"):
        return set(range(n_columns))
    asked = {int(f) for tree in trees for f in np.unique(tree.feature[~tree.is_leaf])}
    spare = {int(f) for tree in trees if tree.surrogates for f in tree.surrogates.feature}
    return asked | spare


def row_losses(ask: Asked, answers: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return whether each row is told wrong, or its squared error."""
    if ask.labels is None:
        return (answers[:, 0] - truth.astype(np.float64)) ** 2
    told = np.asarray(ask.model.classes_)[answers.argmax(axis=1)]
    return (told != truth).astype(np.float64)


def _shap(model: Any, X: Any) -> Importance:
    values = np.abs(np.asarray(model.shap_values(X)))  # (rows, columns, outputs, classes)
    classes = getattr(model, "classes_", None)
    if values.ndim > 2 and classes is not None:
        several = isinstance(classes, list)  # of outputs: the longest list sets the last axis
        for output, labels in enumerate(classes if several else [classes]):
            if len(labels) == 2:  # what moves one class up moves the other down by as much
                (values[:, :, output] if several else values)[..., 0] = 0.0
    values = values.sum(axis=tuple(range(2, values.ndim)))
    return Importance(values.mean(axis=0)[None], model.schema_.names, "mean |SHAP value|")
