"""A tree in scikit-learn's form, for programs that read that form, such as dtreeviz.

    dtreeviz.model(model.to_dtreeviz(), X, y, feature_names=…, target_name=…).view()

The nodes are copied into a real `DecisionTreeClassifier` or `DecisionTreeRegressor`, so every program that
reads these works with it. Such a tree has only thresholds and one direction for missing values: trees that
split on categories, have surrogates or more than two branches raise an error.

`arboretum.tree` has scikit-learn's own text and pictures of such trees, and this library's of all others:

    DecisionTreeClassifier of arboretum ──copied──► of scikit-learn ──► sklearn.tree.export_text
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from arboretum.base.anatomy import has_anatomy
from arboretum.errors import ParameterError
from arboretum.explain.pick_tree import Picked, pick_tree
from arboretum.explain.pipeline import takes_pipelines
from arboretum.structure.tree import THRESHOLD, Tree

__all__ = ["shown_by_scikit_learn", "to_dtreeviz"]

_CRITERIA = (
    "gini",
    "entropy",
    "log_loss",
    "squared_error",
    "absolute_error",
    "friedman_mse",
    "poisson",
)


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
    picked = pick_tree(model, tree, "to_dtreeviz")
    _check(picked.tree)
    return _in_their_form(picked)


def shown_by_scikit_learn(name: str, ours: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of `sklearn.tree` that also takes the trees of this library.

    A tree that scikit-learn could have grown is shown as scikit-learn shows it; any other, and any ensemble,
    by ``ours``, which takes the same arguments.
    """
    import sklearn.tree

    theirs = getattr(sklearn.tree, name)

    @wraps(theirs)
    def show(decision_tree: Any, *args: Any, **kwargs: Any) -> Any:
        if not has_anatomy(decision_tree):  # a tree of scikit-learn, or its error
            return theirs(decision_tree, *args, **kwargs)
        picked = pick_tree(decision_tree, kwargs.get("tree", 0), name)
        usual = picked.anatomy.recipe.criterion in _CRITERIA
        if hasattr(decision_tree, "tree_") and usual and not len(_odd_nodes(picked.tree)):
            return theirs(_in_their_form(picked), *args, **kwargs)
        return ours(decision_tree, *args, **kwargs)

    return show


def _in_their_form(picked: Picked) -> Any:
    """Return a copy of a tree as a fitted estimator of scikit-learn."""
    one, classes = picked.tree, picked.classes
    criterion = picked.anatomy.recipe.criterion
    found: Any = DecisionTreeRegressor() if classes is None else DecisionTreeClassifier()
    found.set_params(max_depth=one.max_depth or None)
    if criterion in _CRITERIA and (criterion in _CRITERIA[:3]) == (classes is not None):
        found.set_params(criterion=criterion)
    if classes is not None:
        each = [np.asarray(labels) for labels in classes]
        found.classes_ = each[0] if len(each) == 1 else each
        found.n_classes_ = len(each[0]) if len(each) == 1 else [len(labels) for labels in each]
    found.n_features_in_ = found.max_features_ = one.n_features
    found.n_outputs_ = one.n_outputs
    if one.schema.named:
        found.feature_names_in_ = np.array(one.schema.names, dtype=object)
    found.tree_ = _nodes(one, [1] * one.n_outputs if classes is None else [len(c) for c in classes])
    return found


def _odd_nodes(tree: Tree) -> np.ndarray:
    """Return the nodes that scikit-learn's trees cannot have: splits by category, or by missing values."""
    inner = np.flatnonzero(~tree.is_leaf)
    odd = (tree.kind[inner] != THRESHOLD) | ~np.isfinite(tree.threshold[inner])
    return inner[odd]


def _check(tree: Tree) -> None:
    """Raise if scikit-learn's trees cannot represent the tree."""
    odd = _odd_nodes(tree)
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


def _nodes(tree: Tree, n_classes: list[int]) -> Any:
    from sklearn.tree._tree import Tree as TheirTree

    empty = TheirTree(tree.n_features, np.array(n_classes, np.intp), tree.n_outputs)
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
