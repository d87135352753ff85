"""A tree in scikit-learn's form, for programs that read that form, such as dtreeviz.

    dtreeviz.model(model.to_dtreeviz(), X, y, feature_names=…, target_name=…).view()

The nodes are copied into a real `DecisionTreeClassifier` or `DecisionTreeRegressor`, so every program that
reads these works with it. Such a tree has only thresholds and one direction for missing values: trees that
split on categories, have surrogates or more than two branches raise an error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.errors import ParameterError
from arboretum.explain.pick_tree import pick_tree
from arboretum.explain.pipeline import takes_pipelines
from arboretum.structure.tree import THRESHOLD, Tree

__all__ = ["to_dtreeviz"]


@takes_pipelines
def to_dtreeviz(model: Any, tree: Any = 0) -> Any:
    """Return a tree of a model as a fitted tree of scikit-learn, which dtreeviz draws.

    Parameters
    ----------
    model : fitted estimator with trees, or a Tree
        Fitted on columns of numbers; encode words before the fit.
    tree : int or pair, default 0
        Which tree of an ensemble, as for `export_text`. A tree of a booster becomes a regressor.

    Returns
    -------
    sklearn.tree.DecisionTreeClassifier or DecisionTreeRegressor
        With the same nodes and node numbers. (scikit-learn converts X to float32.)

    Examples
    --------
    >>> from arboretum import CARTClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> theirs = to_dtreeviz(CARTClassifier(max_depth=3).fit(X, y))
    >>> float(theirs.score(X, y)) > 0.95
    True
    """
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    picked = pick_tree(model, tree, "to_dtreeviz")
    one, classes = picked.tree, picked.classes
    _check(one)
    found: Any
    if classes is None:
        found = DecisionTreeRegressor(max_depth=one.max_depth or None)
    else:
        criterion = picked.anatomy.recipe.criterion
        usual = criterion if criterion in ("gini", "entropy", "log_loss") else "gini"
        found = DecisionTreeClassifier(criterion=usual, max_depth=one.max_depth or None)
        found.classes_ = np.asarray(classes[0])
        found.n_classes_ = len(classes[0])
    found.n_features_in_ = found.max_features_ = one.n_features
    found.n_outputs_ = 1
    if one.schema.named:
        found.feature_names_in_ = np.array(one.schema.names, dtype=object)
    found.tree_ = _nodes(one)
    return found


def _check(tree: Tree) -> None:
    """Raise if scikit-learn's trees cannot represent the tree."""
    inner = np.flatnonzero(~tree.is_leaf)
    odd = inner[(tree.kind[inner] != THRESHOLD) | ~np.isfinite(tree.threshold[inner])]
    if len(odd):
        name = tree[int(odd[0])].name
        raise ParameterError(
            f"to_dtreeviz supports only thresholds, and node {int(odd[0])} splits column {name!r} by "
            "category, or by missing values: use plot_tree, or fit on numbers"
        )
    if tree.surrogates is not None or tree.n_outputs > 1 or tree.spreads:
        raise ParameterError(
            "to_dtreeviz supports only trees of one output without surrogates and fractional cases: use "
            "plot_tree"
        )


def _nodes(tree: Tree) -> Any:
    from sklearn.tree._tree import Tree as TheirTree

    n_values = tree.value.shape[2]
    empty = TheirTree(tree.n_features, np.array([n_values], np.intp), 1)
    kinds = TheirTree(1, np.array([1], np.intp), 1).__getstate__()["nodes"].dtype
    nodes = np.zeros(len(tree), kinds)
    leaf = tree.is_leaf
    nodes["left_child"] = np.where(leaf, -1, tree.first_child)
    nodes["right_child"] = np.where(leaf, -1, tree.first_child + 1)
    nodes["feature"] = np.where(leaf, -2, tree.feature)
    nodes["threshold"] = np.where(leaf, -2.0, tree.threshold)
    nodes["impurity"] = tree.impurity
    nodes["n_node_samples"] = tree.count
    nodes["weighted_n_node_samples"] = tree.weight
    nodes["missing_go_to_left"] = np.where(leaf, 0, tree.missing_child == 0)
    state = {"max_depth": tree.max_depth, "node_count": len(tree), "nodes": nodes}
    empty.__setstate__({**state, "values": np.ascontiguousarray(tree.value)})
    return empty
