"""Models of many estimators on the command line: how large they are, and one of their trees.

arboretum show forest.arb             size and importances
arboretum show forest.arb --tree 0    the first tree, in every format a tree has
"""

from __future__ import annotations

from typing import Any

from arboretum.cli.guard import UsageError
from arboretum.cli.screen import plural

__all__ = ["describe_forest", "forest_size", "is_forest", "one_tree", "rows_of", "trees_of"]


def is_forest(model: Any) -> bool:
    """Tell whether a fitted model has many estimators."""
    return not hasattr(model, "tree_") and (
        hasattr(model, "trees_") or hasattr(model, "estimators_")
    )


def trees_of(model: Any) -> list[Any]:
    """Return the trees of a forest; empty for a bag of other estimators."""
    if hasattr(model, "trees_"):
        return list(model.trees_)
    if hasattr(model, "final_estimator_"):  # the models of a stack are of different kinds
        return []
    return [e.tree_ for e in model.estimators_ if hasattr(e, "tree_")]


def rows_of(model: Any) -> int:
    """Return how many rows a forest was trained on."""
    return int(model._bags.n_rows if hasattr(model, "_bags") else model._n_rows)


def forest_size(model: Any) -> str:
    """Return how large a forest is.

    Examples
    --------
    >>> from arboretum import RandomForestRegressor
    >>> forest = RandomForestRegressor(5, max_depth=1, random_state=0)
    >>> forest_size(forest.fit([[1], [2], [3], [4]], [0, 0, 1, 1]))
    '5 trees of 2 leaves, depth up to 1'
    """
    if hasattr(model, "final_estimator_"):
        names = ", ".join(type(member).__name__ for member in model.estimators_)
        return f"{names}, and {type(model.final_estimator_).__name__} on their answers"
    trees = trees_of(model)
    if not trees:
        what = type(model.estimators_[0]).__name__
        return f"{plural(len(model.estimators_), 'estimator')}: {what}"
    leaves = sorted(tree.n_leaves for tree in trees)
    several = plural(leaves[-1], "leaf", "leaves")
    if leaves[0] < leaves[-1]:
        several = f"{leaves[0]:,} to {several}"
    depth = max(tree.max_depth for tree in trees)
    return f"{plural(len(trees), 'tree')} of {several}, depth up to {depth}"


def describe_forest(model: Any, shares: list[float] | None) -> str:
    """Return size and importances as text, the most important columns first."""
    lines = [f"{type(model).__name__}: {forest_size(model)}"]
    if trees_of(model):
        lines.append(f"one tree: add --tree 0 … {len(model) - 1}")
    if shares is not None:
        lines += ["", "importance  column"]
        for f in sorted(range(len(shares)), key=lambda f: -shares[f]):
            lines.append(f"{shares[f]:10.4f}  {model.schema_.columns[f].name}")
    return "\n".join(lines) + "\n"


def one_tree(model: Any, number: int) -> Any:
    """Return one tree of a forest as a model of its own."""
    if not trees_of(model):
        what = type(model.estimators_[0]).__name__
        whose = "a stack" if hasattr(model, "final_estimator_") else f"a bag of {what}"
        raise UsageError(f"{whose} has no trees to show")
    if number >= len(model):
        raise UsageError(f"--tree {number}: there are trees 0 to {len(model) - 1}")
    if hasattr(model, "estimators_"):
        members = model.estimators_  # boosting of several classes has a line of trees per round
        return members.ravel()[number] if hasattr(members, "ravel") else members[number]
    from arboretum import CARTClassifier, CARTRegressor

    if hasattr(model, "objective_"):  # its trees answer margins, whatever it tells in the end
        return _margin_tree(model, number)
    kind: Any = CARTClassifier if hasattr(model, "classes_") else CARTRegressor
    tree = kind(criterion=model.criterion, unseen=model.unseen)
    tree.tree_, tree.schema_ = model.trees_[number], model.schema_
    for name in ("n_outputs_", "n_features_in_", "feature_names_in_", "classes_", "n_classes_"):
        if hasattr(model, name):
            setattr(tree, name, getattr(model, name))
    if hasattr(model, "_one_output"):
        tree._one_output = model._one_output
    return tree


def _margin_tree(model: Any, number: int) -> Any:
    from arboretum.cart.cart import CARTRegressor

    tree = CARTRegressor()
    tree.tree_, tree.schema_ = model.trees_[number], model.schema_
    tree.n_outputs_, tree._one_output = 1, True
    tree.n_features_in_ = model.n_features_in_
    return tree
