"""A model of several targets as a model of one of them: the same trees, with the values of that target."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from arboretum.errors import DataError, ParameterError
from arboretum.explain.pick_tree import trees_of
from arboretum.structure.tree import Tree

__all__ = ["one_target", "target_column", "targets_shown"]

_MOST_NODES = 60_000  # of trees, times targets, that one page holds
_MOST_TARGETS = 12


def targets_shown(model: Any, output: int | None) -> list[int | None]:
    """Return the targets a page has: the given one, or all if there is room, else the first.

    >>> from arboretum import CARTRegressor
    >>> targets_shown(CARTRegressor().fit([[0.0], [1.0]], [[1.0, 5.0], [2.0, 6.0]]), None)
    [0, 1]
    """
    n = int(getattr(model, "n_outputs_", 1))
    if n == 1 or output is not None:
        return [output]
    nodes = sum(len(tree) for tree in trees_of(model))
    if n > _MOST_TARGETS or n * nodes > _MOST_NODES:
        return [0]
    return list(range(n))


def one_target(model: Any, output: int | None) -> Any:
    """Return a model that predicts one of its targets; itself if it has only one.

    Examples
    --------
    >>> from arboretum import CARTRegressor
    >>> model = CARTRegressor().fit([[0.0], [1.0]], [[1.0, 5.0], [2.0, 6.0]])
    >>> one_target(model, 1).predict([[1.0]]).tolist()
    [6.0]
    """
    n = int(getattr(model, "n_outputs_", 1))
    if output is not None and not 0 <= output < n:
        raise ParameterError(
            f"output of report must be one of the model's targets, 0 to {n - 1}, got {output}"
        )
    if n == 1:
        return model
    output = output or 0
    single = copy.copy(model)
    for name in (*type(model)._cached, "_fit_seconds"):
        single.__dict__.pop(name, None)
    if "_fit_seconds" in vars(model):
        single._fit_seconds = model._fit_seconds
    single.n_outputs_, single._one_output = 1, True
    width = 1
    if isinstance(getattr(model, "classes_", None), list):
        single._take_classes(model.classes_[output])
        width = len(model.classes_[output])
    if "tree_" in vars(model):
        single.tree_ = _of_target(model.tree_, output, width)
    elif "trees_" in vars(model):
        single.trees_ = [_of_target(tree, output, width) for tree in model.trees_]
    elif trees_of(model):  # a bag
        single.estimators_ = [one_target(member, output) for member in model.estimators_]
    else:
        raise ParameterError(
            f"this {type(model).__name__} predicts {n} targets by members: a report needs trees or forests "
            "of several targets, or a model of one target"
        )
    for name in ("oob_score_", "pruning_curve_"):  # of all targets together
        single.__dict__.pop(name, None)
    return single


def _of_target(tree: Tree, output: int, width: int) -> Tree:
    return replace(tree, value=np.ascontiguousarray(tree.value[:, output : output + 1, :width]))


def target_column(y: Any, n_outputs: int, output: int | None) -> tuple[Any, str | None]:
    """Return one column of a target of several, and its name; y itself if there is one."""
    if n_outputs == 1:
        return y, None
    values = np.asarray(y)
    if values.ndim != 2 or values.shape[1] != n_outputs:
        raise DataError(
            f"y has the shape {values.shape}: the model predicts {n_outputs} targets, give a column for each"
        )
    names = getattr(y, "columns", None)
    output = output or 0
    return values[:, output], None if names is None else str(list(names)[output])
