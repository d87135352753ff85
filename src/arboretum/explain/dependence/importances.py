"""The importance of columns, measured in six ways.

    kind              what is measured                            needs        favours columns
    gain              share of the gain of all splits             -            with many values
    cover             share of the rows that pass its splits      -            near the root
    split             number of its splits                        -            with many values
    permutation       increase of the error when it is shuffled   X, y         none
    oob_permutation   the same, on rows a tree has not seen       X, y (fit)   none
    shap              mean |SHAP value|: how far it moves scores  X            none

The first three are computed from the trees and show which columns the model uses; the others are computed
from rows and show which columns it needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.base.anatomy import Anatomy, has_anatomy
from arboretum.engine.keys import seed_from
from arboretum.errors import DataError, ParameterError
from arboretum.explain.dependence.model_function import ModelFunction
from arboretum.explain.pipeline import anatomy_of, takes_pipelines
from arboretum.forest.importance import Importance, permutation_importance

__all__ = ["KINDS", "feature_importances", "importances_of"]

KINDS = ("gain", "cover", "split", "permutation", "oob_permutation", "shap")


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
    """Return the importance of every column for a fitted model.

    Parameters
    ----------
    model : fitted estimator of this library, or a Pipeline that ends with one
    kind : {"gain", "cover", "split", "permutation", "oob_permutation", "shap"}, default="gain"
        See the table in the module's text. "permutation" is the increase of the error when a column is
        shuffled: of the share of wrong classes, or of the mean squared error. "oob_permutation" is Breiman's,
        for forests grown with ``bootstrap=True``; X and y are then the training table.
    X, y : table and target
        Rows to measure on; only for the last three kinds, "shap" needs X alone.
    n_repeats : int, default=5
        How often "permutation" shuffles a column.
    random_state : int, RandomState or None, default=0
        Seed of the shuffles.

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
    anatomy = anatomy_of(model, "feature_importances")
    if kind not in KINDS:
        raise ParameterError(f"kind of feature_importances must be one of {KINDS}, got {kind!r}")
    matrix_needed = kind in ("permutation", "oob_permutation", "shap")
    if matrix_needed and (X is None or (y is None and kind != "shap")):
        needed = "X" if kind == "shap" else "X and y"
        raise ParameterError(f"importances of kind {kind!r} are measured on rows: give {needed}")
    if kind == "permutation":
        return _permutation(model, X, y, n_repeats, random_state)
    if kind == "oob_permutation":
        if anatomy.bags is None or not anatomy.trees:
            raise ParameterError(
                f"{type(model).__name__} draws no bags of rows, so none are out of bag: use "
                "kind='permutation' on rows held out"
            )
        return permutation_importance(model, X, y)
    if kind == "shap":
        return _shap(model, X)
    return _of_trees(model, anatomy, kind)


# ---------------------------------------------------------------------- by the trees
def _of_trees(model: Any, anatomy: Anatomy, kind: str) -> Importance:
    found = _by_splits(model, anatomy, kind)
    if found is None:
        raise ParameterError(
            f"{type(model).__name__} has no splits to count for kind={kind!r}: use kind='permutation' "
            "with rows"
        )
    measures = {
        "gain": "share of the gain of all splits",
        "cover": "share of the rows that pass splits on the column",
        "split": "splits on the column",
    }
    return Importance(found[None], anatomy.columns.schema.names, measures[kind])


def _by_splits(model: Any, anatomy: Anatomy, kind: str) -> np.ndarray | None:
    """Return gains, covers or counts of a model's trees, or the mean of its members' shares."""
    trees, n_columns = anatomy.trees, anatomy.columns.schema.n_features
    if kind == "gain" and anatomy.family not in ("second order", "averaged"):
        return importances_of(model)
    if trees:
        total = np.zeros(n_columns)
        for tree in trees:
            inner = ~tree.is_leaf
            size = {"gain": tree.gain, "cover": tree.weight, "split": np.ones(len(tree))}[kind]
            total += np.bincount(tree.feature[inner], size[inner], len(total))
        if kind == "cover" and not total.any():
            return None  # stumps of a dictionary have no row counts
        return total if kind == "split" else _shares(total)
    each = [
        _by_splits(part.model, theirs, kind)
        for part in anatomy.parts
        if part.reads_table and has_anatomy(part.model)
        if (theirs := part.model._anatomy()).columns.schema.n_features == n_columns
    ]
    known = [one for one in each if one is not None]
    if not known:
        return None
    if kind == "split":
        return np.sum(known, axis=0)
    return _shares(np.sum([_shares(one) for one in known], axis=0))


def importances_of(model: Any) -> np.ndarray | None:
    """Return the importance of every column; None for models without importances.

    For models that combine others, it is the mean over the members that have importances, as shares; for
    rules, the share of the rows that reach a rule with a condition on the column.

    Examples
    --------
    >>> from arboretum import CARTClassifier
    >>> importances_of(CARTClassifier().fit([[1, 5], [2, 5], [3, 5]], [0, 0, 1]))
    array([1., 0.])
    """
    # members of any library; some have no importances
    own = getattr(model, "feature_importances_", None)
    if own is not None:
        return np.asarray(own, dtype=float)
    if not has_anatomy(model):
        return None
    anatomy = model._anatomy()
    n_columns = anatomy.columns.schema.n_features
    if anatomy.family == "rules":
        return _shares(_rows_of_rules(model.rules_, n_columns))
    if anatomy.family == "coordinate" and anatomy.trees:
        return _shares(_weights_of_stumps(anatomy, n_columns))
    each = [importances_of(part.model) for part in anatomy.parts if part.reads_table]
    known = [one / one.sum() for one in each if one is not None and one.sum() > 0]
    known = [one for one in known if len(one) == n_columns]
    return np.mean(known, axis=0) if known else None


def _weights_of_stumps(anatomy: Anatomy, n_columns: int) -> np.ndarray:
    """Return the weights of the stumps that split on a column."""
    found, ensemble = np.zeros(n_columns), anatomy.ensemble
    assert ensemble is not None
    for tree, weight in zip(ensemble.trees, ensemble.weights, strict=True):
        found[tree.feature[0]] += abs(float(weight)) * float(np.ptp(tree.value[tree.leaves]))
    return found


def _rows_of_rules(rules: list[Any], n_columns: int) -> np.ndarray:
    """Return how many training rows are predicted by rules with a condition on a column."""
    found = np.zeros(n_columns)
    for rule in rules:
        for feature in {condition.feature for condition in rule.conditions}:
            found[feature] += rule.weight
    return found


def _shares(total: np.ndarray) -> np.ndarray:
    return total / total.sum() if total.sum() > 0 else total


# ---------------------------------------------------------------------- by rows
def _permutation(model: Any, X: Any, y: Any, n_repeats: int, random_state: Any) -> Importance:
    if not isinstance(n_repeats, int | np.integer) or n_repeats < 1:
        raise ParameterError(f"n_repeats must be an int of at least 1, got {n_repeats!r}")
    function = ModelFunction(model, "feature_importances")
    columns = function.anatomy.columns
    matrix = columns.numbers(X)
    rows = np.array(matrix.rows(0, matrix.n_rows))
    actual = np.asarray(y)
    if len(actual) != len(rows):
        raise DataError(f"X has {len(rows)} rows and y has {len(actual)}")
    before = _row_losses(function, rows, actual).mean()
    rng = np.random.default_rng(seed_from(random_state))
    found = np.zeros((n_repeats, rows.shape[1]))
    used = _columns_used(function.anatomy)
    for f in range(rows.shape[1]):
        column = rows[:, f].copy()
        for repeat in range(n_repeats):
            order = rng.permutation(len(rows))
            if f in used:
                rows[:, f] = column[order]
                found[repeat, f] = _row_losses(function, rows, actual).mean() - before
        rows[:, f] = column
    what = "mean squared error" if function.labels is None else "share of wrong classes"
    return Importance(found, columns.schema.names, f"increase of the {what} when shuffled")


def _columns_used(anatomy: Anatomy) -> set[int]:
    """Return the columns that predictions can depend on; shuffling others changes nothing."""
    trees = anatomy.trees
    if not trees:
        return set(range(anatomy.columns.schema.n_features))
    split_on = {int(f) for tree in trees for f in np.unique(tree.feature[~tree.is_leaf])}
    surrogates = {int(f) for tree in trees if tree.surrogates for f in tree.surrogates.feature}
    return split_on | surrogates


def _row_losses(function: ModelFunction, rows: np.ndarray, actual: np.ndarray) -> np.ndarray:
    """Return for each row 1 if it is predicted wrongly else 0, or its squared error."""
    found, labels = function(rows), function.anatomy.labels
    if labels is None:
        return (found[:, 0] - actual.astype(np.float64)) ** 2
    return (labels[found.argmax(axis=1)] != actual).astype(np.float64)


def _shap(model: Any, X: Any) -> Importance:
    anatomy = anatomy_of(model, "feature_importances")
    values = np.abs(np.asarray(model.shap_values(X)))  # (rows, columns, outputs, classes)
    if values.ndim > 2 and anatomy.classes is not None:
        several = values.ndim > 3  # the target with most classes sets the last axis
        for target, labels in enumerate(anatomy.classes):
            if len(labels) == 2:  # two classes: the values differ in sign only
                (values[:, :, target] if several else values)[..., 0] = 0.0
    values = values.sum(axis=tuple(range(2, values.ndim)))
    return Importance(values.mean(axis=0)[None], anatomy.columns.schema.names, "mean |SHAP value|")
